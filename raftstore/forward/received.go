package forward

import (
	"context"
	"sync"
	"time"

	"quorate/proto/peerpb"
)

// maxResults bounds the results in one message.
const maxResults = 1024

// received holds the writes of one stream that have no result yet. Each write has a goroutine,
// because it may wait for another write to the same object and must not delay writes to others.
type received struct {
	server *Server
	ready  chan struct{} // holds one value when take may return something

	mu      sync.Mutex
	notFull sync.Cond // signalled when writes or bytes decrease, and at the end
	ended   bool
	err     error // why the stream broke, nil if it did not
	writes  int   // pending
	bytes   int   // of the entries of these writes
	results []*peerpb.WriteResponse
}

func newReceived(s *Server) *received {
	in := &received{server: s, ready: make(chan struct{}, 1)}
	in.notFull.L = &in.mu
	return in
}

// receive starts the stream's writes until the end, and discards later ones until the client closes
// the stream.
func (in *received) receive(ctx context.Context, stream peerpb.Store_WritesServer) {
	for {
		batch, err := stream.Recv()
		if err != nil {
			in.end(err)
			return
		}
		now := time.Now()
		for _, req := range batch.GetWrites() {
			if !in.enter(len(req.GetEntry())) {
				break
			}
			go in.decide(ctx, req, now)
		}
	}
}

// enter waits until a write of that size is within the bounds. It returns false at the end.
func (in *received) enter(size int) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for waited := false; !in.ended && in.full(size); waited = true {
		if !waited {
			in.server.metrics.held.Inc()
		}
		in.notFull.Wait()
	}
	if in.ended {
		return false
	}
	in.writes++
	in.bytes += size
	return true
}

func (in *received) full(size int) bool {
	return in.writes >= maxWrites || in.bytes > 0 && in.bytes+size > maxBytes
}

// decide decides one write before the deadline that it arrived with, and records the result.
func (in *received) decide(ctx context.Context, req *peerpb.WriteRequest, came time.Time) {
	if left := req.GetTimeoutNanos(); left > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, came.Add(time.Duration(left)))
		defer cancel()
	}
	size := len(req.GetEntry())
	resp := in.decideUnlessExpired(ctx, req)
	resp.Id = req.GetId()

	in.mu.Lock()
	defer in.mu.Unlock()
	in.writes--
	in.bytes -= size
	in.results = append(in.results, resp)
	in.notFull.Signal()
	signal(in.ready)
}

func (in *received) decideUnlessExpired(ctx context.Context, req *peerpb.WriteRequest) *peerpb.WriteResponse {
	if err := ctx.Err(); err != nil { // it expired while it waited in enter
		return &peerpb.WriteResponse{Outcome: peerpb.Outcome_NOT_APPLIED, Message: err.Error()}
	}
	return in.server.decide(ctx, req)
}

// end accepts no further writes. It keeps the first error, even if end(nil) was called before it.
func (in *received) end(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	if in.err == nil {
		in.err = err
	}
	in.notFull.Broadcast()
	signal(in.ready)
}

// take removes and returns the results that are ready. over reports that they are the last. err is
// not nil if the stream broke, so they can't be sent.
func (in *received) take() (results []*peerpb.WriteResponse, over bool, err error) {
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
