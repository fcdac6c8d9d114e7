package forward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"google.golang.org/grpc"

	"quorate/proto/peerpb"
)

// writes is the client's side of a stream of writes.
type writes = grpc.BidiStreamingClient[peerpb.WriteBatch, peerpb.WriteResults]

// run sends queued writes until ctx ends. When a stream breaks, it opens the next one once there is
// a write to send.
func (q *queue) run(ctx context.Context) {
	defer q.close()
	for {
		select {
		case <-q.wake:
		case <-ctx.Done():
			return
		}
		q.failAll(q.stream(ctx))
	}
}

// stream opens a stream, sends writes on it until it ends, and returns why it ended.
func (q *queue) stream(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := q.open(ctx)
	if err != nil {
		return err
	}
	received := make(chan error, 1)
	go func() { received <- q.receive(stream) }()
	for {
		select {
		case err := <-received: // first, so that no write is sent on a stream that has ended
			return err
		default:
		}
		batch := q.take()
		if batch == nil {
			select {
			case <-q.wake:
				runtime.Gosched() // lets concurrent writes join this message
				continue
			case err := <-received:
				return err
			}
		}
		switch err := stream.Send(batch); {
		case errors.Is(err, io.EOF):
			return <-received // the reason, after the last results
		case err != nil:
			cancel()
			return errors.Join(err, <-received)
		}
	}
}

// open opens a stream, and returns it once the peer has sent its header. No write is sent before
// that. So a stream that the peer refuses has carried no write, and gRPC has no message to
// retransmit.
func (q *queue) open(ctx context.Context) (writes, error) {
	stream, err := q.store.Writes(ctx)
	if err != nil {
		return nil, err
	}
	header, err := stream.Header()
	if err == nil && header == nil { // so gRPC reports that the stream ended before
		_, err = stream.Recv()
	}
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	return stream, nil
}

// receive passes results to their writes until the stream ends, and returns why it ended.
func (q *queue) receive(stream writes) error {
	for {
		results, err := stream.Recv()
		if err != nil {
			return err
		}
		q.deliver(results.GetResults())
		if results.GetLast() {
			return errLast
		}
	}
}
