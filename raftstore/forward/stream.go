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

// writes is a stream as the sender has it.
type writes = grpc.BidiStreamingClient[peerpb.WriteBatch, peerpb.WriteResults]

// run sends what waits until ctx ends. One stream serves until it breaks; the next is made when there is something to send.
func (l *lane) run(ctx context.Context) {
	defer l.close()
	for {
		select {
		case <-l.wake:
		case <-ctx.Done():
			return
		}
		l.lose(l.stream(ctx))
	}
}

// stream makes a stream and serves it until it ends, and returns why it did.
func (l *lane) stream(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := l.open(ctx)
	if err != nil {
		return err
	}
	received := make(chan error, 1)
	go func() { received <- l.receive(stream) }()
	for {
		select {
		case err := <-received: // before anything is handed to a stream that has ended
			return err
		default:
		}
		batch := l.take()
		if batch == nil {
			select {
			case <-l.wake:
				runtime.Gosched() // who else is about to write comes along
				continue
			case err := <-received:
				return err
			}
		}
		switch err := stream.Send(batch); {
		case errors.Is(err, io.EOF):
			return <-received // which has the reason, after the last answers
		case err != nil:
			cancel()
			return errors.Join(err, <-received)
		}
	}
}

// open makes a stream. Nothing is sent before the peer has answered with its headers: a stream that it doesn't take up is known not to
// have taken anything away, and gRPC keeps nothing to send it again by itself.
func (l *lane) open(ctx context.Context) (writes, error) {
	stream, err := l.store.Writes(ctx)
	if err != nil {
		return nil, err
	}
	header, err := stream.Header()
	if err == nil && header == nil { // so gRPC says that it ended before
		_, err = stream.Recv()
	}
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	return stream, nil
}

// receive hands out answers until the stream ends, and returns why it did.
func (l *lane) receive(stream writes) error {
	for {
		results, err := stream.Recv()
		if err != nil {
			return err
		}
		l.answered(results.GetResults())
		if results.GetLast() {
			return errLast
		}
	}
}
