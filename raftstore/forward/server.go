package forward

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/metadata"

	"quorate/proto/peerpb"
)

// DecideFunc decides one write and returns its result. It may block until ctx ends.
type DecideFunc func(ctx context.Context, req *peerpb.WriteRequest) *peerpb.WriteResponse

// Server decides the writes that other nodes forward. Its methods are safe for concurrent use.
type Server struct {
	decide  DecideFunc
	metrics *serverMetrics
	ending  chan struct{} // closed by End
	endOnce sync.Once
}

// NewServer returns a server that decides each write with decide.
func NewServer(decide DecideFunc, reg prometheus.Registerer) *Server {
	return &Server{decide: decide, metrics: newServerMetrics(reg), ending: make(chan struct{})}
}

// lastTimeout bounds the wait for a client to close its stream after the last message.
const lastTimeout = time.Second

// End makes the server accept no further writes. Each stream ends once all accepted writes have
// results, with a message that says so, and the client has closed it or lastTimeout has passed.
func (s *Server) End() { s.endOnce.Do(func() { close(s.ending) }) }

// Serve responds to the writes of one stream until either side ends it.
func (s *Server) Serve(stream peerpb.Store_WritesServer) error {
	if err := stream.SendHeader(metadata.MD{}); err != nil { // the client sends nothing before it
		return err
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	in := newReceived(s)
	closed := make(chan struct{})
	go func() { // ends with the stream, which ends with this call
		defer close(closed)
		in.receive(ctx, stream)
	}()
	ending, broken := s.ending, ctx.Done()
	for {
		select {
		case <-in.ready:
		case <-ending:
			ending = nil
			in.end(nil)
		case <-broken:
			broken = nil
			in.end(context.Cause(ctx))
		}
		runtime.Gosched() // lets writes that were applied together finish, for one message
		results, over, err := in.take()
		if err == nil && (over || len(results) > 0) {
			if err = stream.Send(&peerpb.WriteResults{Results: results, Last: over}); err != nil {
				in.end(err)
			}
		}
		if err != nil {
			cancel() // nobody can get the remaining results
		}
		if over && err == nil {
			awaitClose(closed)
		}
		if over {
			return err
		}
	}
}

// awaitClose waits until the client has closed the stream, or lastTimeout. A connection that is
// closed with bytes of the client unread is reset, and a reset discards the last message if it is
// still on its way.
func awaitClose(closed <-chan struct{}) {
	timeout := time.NewTimer(lastTimeout)
	defer timeout.Stop()
	select {
	case <-closed:
	case <-timeout.C:
	}
}
