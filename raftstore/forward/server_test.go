package forward_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"quorate/proto/peerpb"
	"quorate/raftstore/direct"
	"quorate/raftstore/forward"
	"quorate/raftstore/testcluster"
)

// A slow write delays no other write, and results are sent as soon as they are known.
func TestResultsArriveInAnyOrder(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	d := newDecisions()
	s, _ := server(t, d.answer)
	leader := serve(t, authority, s.Serve)
	client, _ := follower(t, authority)
	slow := write(bounded(t), client, leader.addr(), "slow")
	held := d.next(t)
	var taken []*decision
	outcomes := make(map[string]<-chan outcome)
	for i := range 20 {
		entry := fmt.Sprint(i)
		outcomes[entry] = write(bounded(t), client, leader.addr(), entry)
		taken = append(taken, d.next(t))
	}
	for i := len(taken) - 1; i >= 0; i-- {
		taken[i].apply()
		entry := string(taken[i].req.GetEntry())
		if got := <-outcomes[entry]; got.status() != "APPLIED" || got.resp.GetMessage() != entry {
			t.Errorf("%s: %s, %v, %v", entry, got.status(), got.resp, got.err)
		}
	}
	held.apply()
	if got := <-slow; got.resp.GetMessage() != "slow" {
		t.Errorf("slow: %v, %v", got.resp, got.err)
	}
}

func TestDeadlineIsForwarded(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	d := newDecisions()
	s, _ := server(t, d.answer)
	leader := serve(t, authority, s.Serve)
	client, _ := follower(t, authority)
	t.Run("is_the_leader's_too", func(t *testing.T) {
		ctx := bounded(t)
		done := write(ctx, client, leader.addr(), "x")
		one := d.next(t)
		theirs, has := one.ctx.Deadline()
		if ours, _ := ctx.Deadline(); !has || theirs.Sub(ours).Abs() > testTimeout/2 {
			t.Errorf("deadline of the caller %s, at the leader %s, %v", ours, theirs, has)
		}
		one.apply()
		<-done
	})
	t.Run("may_be_all_there_is", func(t *testing.T) {
		done := write(context.Background(), client, leader.addr(), "x")
		one := d.next(t)
		if deadline, has := one.ctx.Deadline(); has {
			t.Errorf("has until %s", deadline)
		}
		one.apply()
		<-done
	})
	t.Run("passes_with_the_write_at_the_leader", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		done := write(ctx, client, leader.addr(), "x")
		one := d.next(t)
		if got := (<-done).status(); got != "in doubt" && got != "UNKNOWN" {
			t.Errorf("got %s", got)
		}
		<-one.ctx.Done() // the leader stops, too
	})
}

func TestClientRefusesWritesBeyondBounds(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	d := newDecisions()
	s, held := server(t, d.answer)
	leader := serve(t, authority, s.Serve)
	client, registry := follower(t, authority)
	leaving, leave := context.WithCancel(bounded(t))
	left := write(leaving, client, leader.addr(), "x")
	first := d.next(t)
	all := make([]<-chan outcome, forward.MaxWrites-1)
	for i := range all {
		all[i] = write(bounded(t), client, leader.addr(), "x")
	}
	taken := make([]*decision, len(all))
	for i := range taken {
		taken[i] = d.next(t)
	}
	refused := func() {
		t.Helper()
		if got := <-write(bounded(t), client, leader.addr(), "x"); got.status() != "not sent" {
			t.Errorf("one too many: %s, %v", got.status(), got.err)
		}
	}
	refused()
	leave()
	<-left
	refused() // the leader still has it
	if got := sum(t, registry, "full_total"); got != 2 {
		t.Errorf("metric says %v", got)
	}
	for _, one := range append(taken, first) {
		one.apply()
	}
	for _, done := range all {
		if got := <-done; got.status() != "APPLIED" {
			t.Errorf("%s, %v", got.status(), got.err)
		}
	}
	again := write(bounded(t), client, leader.addr(), "x")
	d.next(t).apply()
	if got := <-again; got.status() != "APPLIED" {
		t.Errorf("with room again: %s, %v", got.status(), got.err)
	}
	if got := sum(t, held, "held_total"); got != 0 {
		t.Errorf("the leader stopped reading %v times", got)
	}
}

// The server stops reading from a node that ignores the bounds. It does not start a write whose
// deadline expired while it waited.
func TestServerStopsReadingAtBounds(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	d := newDecisions()
	s, registry := server(t, d.answer)
	leader := serve(t, authority, s.Serve)
	stream := rawStream(t, authority, leader)
	for id := range uint64(forward.MaxWrites) {
		send(t, stream, &peerpb.WriteRequest{Id: id})
	}
	send(t, stream, &peerpb.WriteRequest{Id: 1e6, TimeoutNanos: 1}, &peerpb.WriteRequest{Id: 1e6 + 1})
	taken := make([]*decision, 0, forward.MaxWrites)
	for range forward.MaxWrites {
		taken = append(taken, d.next(t))
	}
	testcluster.Eventually(t, "the leader stops reading", func() bool { return sum(t, registry, "held_total") == 1 })
	select {
	case one := <-d.took:
		t.Errorf("took up %d", one.req.GetId())
	default:
	}
	outcomes := make(map[uint64]peerpb.Outcome)
	receive := func(count int) {
		for len(outcomes) < count {
			results, err := stream.Recv()
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results.GetResults() {
				outcomes[r.GetId()] = r.GetOutcome()
			}
		}
	}
	taken[0].apply()
	if got := d.next(t).req.GetId(); got != 1e6+1 {
		t.Errorf("took up %d", got)
	}
	receive(2)
	if outcomes[1e6] != peerpb.Outcome_NOT_APPLIED || outcomes[taken[0].req.GetId()] != peerpb.Outcome_APPLIED {
		t.Errorf("got %v", outcomes)
	}
	for _, one := range taken[1:] {
		one.apply()
	}
	receive(forward.MaxWrites + 1)
}

// rawStream returns a stream on which the test can ignore the bounds.
func rawStream(t *testing.T, authority *testcluster.Authority, leader *node) peerpb.Store_WritesClient {
	t.Helper()
	conn, err := mux(t, authority, "raw").Connect("leader", leader.addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	stream, err := peerpb.NewStoreClient(conn).Writes(bounded(t), grpc.WaitForReady(true))
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func send(t *testing.T, stream peerpb.Store_WritesClient, writes ...*peerpb.WriteRequest) {
	t.Helper()
	if err := stream.Send(&peerpb.WriteBatch{Writes: writes}); err != nil {
		t.Fatal(err)
	}
}

// A leader that stops while writes arrive decides those that it has accepted, and the outcome of
// the others is not in doubt.
func TestEndLeavesNoUnknownOutcome(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	for round := range 5 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			var mu sync.Mutex
			decided := make(map[string]bool)
			s, _ := server(t, func(_ context.Context, req *peerpb.WriteRequest) *peerpb.WriteResponse {
				mu.Lock()
				defer mu.Unlock()
				decided[string(req.GetEntry())] = true
				return &peerpb.WriteResponse{Outcome: peerpb.Outcome_APPLIED}
			})
			leader := serve(t, authority, s.Serve)
			client, registry := follower(t, authority)
			var writers sync.WaitGroup
			for w := range 16 {
				writers.Go(func() {
					for i := 0; ; i++ {
						entry := fmt.Sprint(w, "-", i)
						got := <-write(bounded(t), client, leader.addr(), entry)
						mu.Lock()
						took := decided[entry]
						mu.Unlock()
						switch status := got.status(); {
						case status == "APPLIED" && took:
							continue
						case status == "not sent" && !took:
							return
						default:
							t.Errorf("%s, taken up: %v; %v", status, took, got.err)
							return
						}
					}
				})
			}
			testcluster.Eventually(t, "writes go on", func() bool { return sum(t, registry, "message_writes") > 200 })
			s.End()
			leader.drain()
			writers.Wait()
		})
	}
}

// signalsLast is a stream that signals once the server has sent the last message.
type signalsLast struct {
	peerpb.Store_WritesServer
	last chan struct{}
}

func (s signalsLast) Send(results *peerpb.WriteResults) error {
	err := s.Store_WritesServer.Send(results)
	if results.GetLast() {
		close(s.last)
	}
	return err
}

// A client that still sends gets the last message: the server reads until the client has closed the
// stream, though not for ever.
func TestLastMessageIsNotReset(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	s, _ := server(t, newDecisions().answer)
	last := make(chan struct{})
	leader := serve(t, authority, func(stream peerpb.Store_WritesServer) error {
		return s.Serve(signalsLast{Store_WritesServer: stream, last: last})
	})
	client := mux(t, authority, "raw")
	conn := direct.NewConn(func(ctx context.Context, p direct.Protocol) (net.Conn, error) {
		return client.DialDirect(ctx, "leader", leader.addr(), p)
	}, nil, func() {})
	t.Cleanup(func() { conn.Close() })
	stream, err := peerpb.NewStoreClient(conn).Writes(bounded(t))
	if err == nil {
		_, err = stream.Header()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.End()
	<-last
	for range 64 {
		send(t, stream, &peerpb.WriteRequest{Id: 1, Entry: make([]byte, 64<<10)})
	}
	if results, err := stream.Recv(); err != nil || !results.GetLast() {
		t.Errorf("got %v, %v", results, err)
	}
	leader.drain()
}

// Streams end by themselves after the last result, and accept no writes after End.
func TestEndWaitsForAcceptedWrites(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	d := newDecisions()
	s, _ := server(t, d.answer)
	leader := serve(t, authority, s.Serve)
	client, _ := follower(t, authority)
	first := write(bounded(t), client, leader.addr(), "first")
	one := d.next(t)
	s.End()
	s.End()
	stopped := make(chan struct{})
	go func() { leader.drain(); close(stopped) }()
	late := write(bounded(t), client, leader.addr(), "late")
	one.apply()
	if got := <-first; got.status() != "APPLIED" {
		t.Errorf("first: %s, %v", got.status(), got.err)
	}
	if got := <-late; got.status() != "not sent" {
		t.Errorf("late: %s, %v", got.status(), got.err)
	}
	<-stopped
	select {
	case two := <-d.took:
		t.Errorf("took up %s", two.req.GetEntry())
	default:
	}
}

// A broken stream cancels its pending writes.
func TestBrokenStreamEndsItsWrites(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	d := newDecisions()
	s, _ := server(t, d.answer)
	leader := serve(t, authority, s.Serve)
	client, _ := follower(t, authority)
	done := write(context.Background(), client, leader.addr(), "x")
	one := d.next(t)
	client.Close()
	<-one.ctx.Done()
	if got := <-done; got.status() != "in doubt" {
		t.Errorf("%s: %v", got.status(), got.err)
	}
	leader.drain()
}
