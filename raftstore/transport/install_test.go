package transport_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"quorate/raftstore/snapshot"
	"quorate/raftstore/testcluster"
	"quorate/raftstore/transport"
)

// reading is an open snapshot in memory.
type reading struct{ *bytes.Reader }

func (reading) Close() error { return nil }

func (r reading) Content() snapshot.Content {
	return snapshot.Content{Index: 9, Term: 2, Size: r.Size(), Checksum: 0xfedcba9876543210}
}

// fakeSender is a transport.SnapshotSender.
type fakeSender struct {
	send  func(ctx context.Context, snapshot transport.Outgoing) error
	limit func(r io.Reader) io.Reader
}

func (f fakeSender) Send(ctx context.Context, o transport.Outgoing) error { return f.send(ctx, o) }

func (f fakeSender) Limit(_ context.Context, r io.Reader) io.Reader { return f.limit(r) }

func sentAtOnce(context.Context, transport.Outgoing) error { return nil }

func earlierBuild(context.Context, transport.Outgoing) error { return transport.ErrEarlierBuild }

func notReceived(snapshot.Content) error { return snapshot.ErrNotReceived }

// pair is two nodes, of which the second installs snapshots.
type pair struct {
	t        *testing.T
	from, to *transport.Raft
	address  raft.ServerAddress

	mu       sync.Mutex
	requests []*raft.InstallSnapshotRequest // that the library of the second node got
	contents []string
}

func newPair(t *testing.T, timeout time.Duration) *pair {
	t.Helper()
	authority := testcluster.NewAuthority(t)
	server, _ := listen(t, authority.Peer(t, "server"), 0)
	client, _ := listen(t, authority.Peer(t, "client"), 0)
	p := &pair{
		t: t, to: server.Raft(nil, timeout, hclog.NewNullLogger()), from: client.Raft(nil, timeout, hclog.NewNullLogger()),
		address: raft.ServerAddress(server.Addr().String()),
	}
	end := make(chan struct{})
	var installing sync.WaitGroup
	installing.Go(func() {
		for {
			select {
			case rpc := <-p.to.Consumer():
				p.install(rpc)
			case <-end:
				return
			}
		}
	})
	t.Cleanup(func() {
		if err := errors.Join(p.from.Close(), p.to.Close()); err != nil {
			t.Error(err)
		}
		close(end)
		installing.Wait()
	})
	return p
}

// install does with a request what the library does.
func (p *pair) install(rpc raft.RPC) {
	content, err := io.ReadAll(rpc.Reader)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, rpc.Command.(*raft.InstallSnapshotRequest))
	p.contents = append(p.contents, string(content))
	rpc.Respond(&raft.InstallSnapshotResponse{Success: err == nil}, err)
}

// send sends a snapshot as the library does.
func (p *pair) send(content string) error {
	req := &raft.InstallSnapshotRequest{
		RPCHeader: raft.RPCHeader{Addr: []byte("x")}, SnapshotVersion: 1, Term: 3,
		LastLogIndex: 9, LastLogTerm: 2, Size: int64(len(content)), Peers: []byte("peers"),
	}
	return p.from.InstallSnapshot("server", p.address, req, &raft.InstallSnapshotResponse{}, reading{bytes.NewReader([]byte(content))})
}

// The request to install a snapshot that was transferred before has no content; the receiving node
// claims what it has received.
func TestTransferredSnapshotIsClaimed(t *testing.T) {
	p := newPair(t, 10*time.Second)
	var sent transport.Outgoing
	p.from.SetSender(fakeSender{send: func(_ context.Context, o transport.Outgoing) error { sent = o; return nil }})
	var claimed []snapshot.Content
	p.to.SetClaim(func(c snapshot.Content) error { claimed = append(claimed, c); return nil })
	if err := p.send("content"); err != nil {
		t.Fatal(err)
	}
	if sent.Follower != "server" || sent.Address() != string(p.address) || sent.Term != 3 {
		t.Errorf("sent %+v", sent)
	}
	want := reading{bytes.NewReader([]byte("content"))}.Content()
	if len(claimed) != 1 || claimed[0] != want {
		t.Errorf("claimed %+v, want %+v", claimed, want)
	}
	if len(p.contents) != 1 || p.contents[0] != "" || p.requests[0].Size != 7 {
		t.Errorf("the library got %q with %+v", p.contents, p.requests)
	}
}

// A node that lacks the content says so, and its library hears nothing.
func TestSnapshotThatIsNotThereIsRefused(t *testing.T) {
	p := newPair(t, 10*time.Second)
	p.from.SetSender(fakeSender{send: sentAtOnce})
	for _, claims := range []bool{false, true} {
		if claims {
			p.to.SetClaim(notReceived)
		}
		if err := p.send("content"); err == nil || !strings.Contains(err.Error(), snapshot.ErrNotReceived.Error()) {
			t.Errorf("with claims %v: %v", claims, err)
		}
	}
	if len(p.contents) > 0 {
		t.Errorf("the library got %q", p.contents)
	}
	p.from.SetSender(fakeSender{send: earlierBuild, limit: func(r io.Reader) io.Reader { return r }})
	if err := p.send("content"); err != nil || len(p.contents) != 1 {
		t.Errorf("after it, the library got %q, %v", p.contents, err)
	}
}

// slowly reads a byte at a time, with a pause after it.
type slowly struct {
	from  io.Reader
	pause time.Duration
}

func (s slowly) Read(b []byte) (int, error) {
	<-time.After(s.pause)
	return s.from.Read(b[:min(len(b), 256<<10)])
}

// To a node of an earlier build, the content goes with the request, as slowly as the limit wants:
// the library would allow the whole request 0.4 s.
func TestContentGoesWithTheRequest(t *testing.T) {
	p := newPair(t, 200*time.Millisecond)
	p.from.SetSender(fakeSender{send: earlierBuild, limit: func(r io.Reader) io.Reader { return slowly{r, 150 * time.Millisecond} }})
	p.to.SetClaim(notReceived)
	content := strings.Repeat("x", 512<<10) + strings.Repeat("y", 512<<10)
	start := time.Now()
	if err := p.send(content[:len(content)/2+1]); err != nil {
		t.Error(err)
	}
	if err := p.send(content); err != nil || time.Since(start) < 600*time.Millisecond {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
	if len(p.contents) != 2 || p.contents[1] != content || string(p.requests[1].Peers) != "peers" {
		t.Error("the library got another content or request")
	}
}

// A transfer ends when its follower is removed, when another to the same follower begins, and when
// the node stops.
func TestTransferEnds(t *testing.T) {
	p := newPair(t, 10*time.Second)
	begun := make(chan struct{}, 1)
	ended := func(what string, result <-chan error) {
		t.Helper()
		select {
		case err := <-result:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("%s: the transfer goes on", what)
		}
	}
	p.from.SetSender(fakeSender{send: func(ctx context.Context, _ transport.Outgoing) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}})
	start := func() <-chan error {
		result := make(chan error, 1)
		go func() { result <- p.send("content") }()
		<-begun
		return result
	}
	removed := start()
	p.from.Disconnect("other")
	p.from.Disconnect("server")
	ended("removed", removed)
	former := start()
	latter := start()
	ended("replaced", former)
	p.from.Abort()
	ended("stopped", latter)
}
