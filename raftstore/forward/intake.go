package forward

import (
	"context"
	"sync"
	"time"

	"quorate/proto/peerpb"
)

// maxResults bounds the answers in one message.
const maxResults = 1024

// intake is what one stream has brought and not been answered. Each write has a goroutine of its own: it may wait for another to the same
// object, which must hold up no third.
type intake struct {
	server *Server
	ready  chan struct{} // holds one value when take may have something to tell

	mu      sync.Mutex
	room    sync.Cond // there is room for more, or the end
	ended   bool
	err     error // why, when the stream broke
	writes  int   // under way
	bytes   int   // of their entries
	results []*peerpb.WriteResponse
}

func newIntake(s *Server) *intake {
	in := &intake{server: s, ready: make(chan struct{}, 1)}
	in.room.L = &in.mu
	return in
}

// receive takes up what comes until the intake ends.
func (in *intake) receive(ctx context.Context, stream peerpb.Store_WritesServer) {
	for {
		batch, err := stream.Recv()
		if err != nil {
			in.end(err)
			return
		}
		now := time.Now()
		for _, req := range batch.GetWrites() {
			if !in.enter(len(req.GetEntry())) {
				return
			}
			go in.do(ctx, req, now)
		}
	}
}

// enter waits for room; false is the end.
func (in *intake) enter(size int) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for waited := false; !in.ended && in.full(size); waited = true {
		if !waited {
			in.server.metrics.held.Inc()
		}
		in.room.Wait()
	}
	if in.ended {
		return false
	}
	in.writes++
	in.bytes += size
	return true
}

func (in *intake) full(size int) bool {
	return in.writes >= maxWrites || in.bytes > 0 && in.bytes+size > maxBytes
}

// do answers one write, within the time that it had left when it came.
func (in *intake) do(ctx context.Context, req *peerpb.WriteRequest, came time.Time) {
	if left := req.GetTimeoutNanos(); left > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, came.Add(time.Duration(left)))
		defer cancel()
	}
	size := len(req.GetEntry())
	resp := in.decide(ctx, req)
	resp.Id = req.GetId()

	in.mu.Lock()
	defer in.mu.Unlock()
	in.writes--
	in.bytes -= size
	in.results = append(in.results, resp)
	in.room.Signal()
	signal(in.ready)
}

func (in *intake) decide(ctx context.Context, req *peerpb.WriteRequest) *peerpb.WriteResponse {
	if err := ctx.Err(); err != nil { // it waited for room
		return &peerpb.WriteResponse{Outcome: peerpb.Outcome_NOT_APPLIED, Message: err.Error()}
	}
	return in.server.answer(ctx, req)
}

// end takes up nothing more. Only the first reason counts, but that a stream broke is one in any case.
func (in *intake) end(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	if in.err == nil {
		in.err = err
	}
	in.room.Broadcast()
	signal(in.ready)
}

// take takes the answers that have gathered. Over: they are the last. Err: the stream broke, and nobody gets them.
func (in *intake) take() (results []*peerpb.WriteResponse, over bool, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	results, in.results = in.results, nil
	if len(results) > maxResults {
		results, in.results = results[:maxResults:maxResults], results[maxResults:]
		signal(in.ready)
	}
	if len(results) > 0 {
		in.server.metrics.messageResults.Observe(float64(len(results)))
	}
	return results, in.ended && in.writes == 0 && len(in.results) == 0, in.err
}
