package direct

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Protocol is what a connection is for.
type Protocol int

// The protocols.
const (
	Streams Protocol = iota
	Calls
)

// ErrNotOffered reports a peer whose build does not know a protocol.
var ErrNotOffered = errors.New("the peer does not offer the protocol")

// Dial connects to a peer for a protocol. It returns an error that wraps ErrNotOffered if the peer
// does not know the protocol.
type Dial func(ctx context.Context, p Protocol) (net.Conn, error)

// Conn is a client of one peer. It implements grpc.ClientConnInterface, without options. All methods
// are safe for concurrent use.
type Conn struct {
	dial     Dial
	fallback grpc.ClientConnInterface // for a peer without the protocol
	tooLarge func()
	without  atomic.Int64 // until when the peer counts as one, in nanoseconds of Unix time

	turn   chan struct{} // has a value while nobody makes a call
	closed atomic.Bool

	mu    sync.Mutex
	calls *framed // guarded by mu for Close, and changed only by the owner of the turn

	// The owner of the turn uses these.
	number uint64    // of the last call
	silent time.Time // of the first call since the peer's last response; zero if it owes none
}

// NewConn returns a client that connects with its first request. It sends requests to a peer without
// the protocol by the fallback, and calls tooLarge for each message that exceeds the bound.
func NewConn(dial Dial, fallback grpc.ClientConnInterface, tooLarge func()) *Conn {
	c := &Conn{dial: dial, fallback: fallback, tooLarge: tooLarge, turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	return c
}

// Close ends the calls under way. Streams end with their contexts. A connection that the transport
// has closed already, for instance because a write on it failed, is no error.
func (c *Conn) Close() error {
	c.closed.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		return nil
	}
	if err := c.calls.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// connect connects for a protocol. A nil connection without an error means the fallback.
func (c *Conn) connect(ctx context.Context, p Protocol) (*framed, error) {
	if time.Now().UnixNano() < c.without.Load() {
		return nil, nil
	}
	conn, err := c.dial(ctx, p)
	if errors.Is(err, ErrNotOffered) {
		c.without.Store(time.Now().Add(fallbackTime).UnixNano())
		return nil, nil
	}
	if err != nil {
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	framed := newFramed(conn)
	framed.tooLarge = c.tooLarge
	return framed, nil
}

// NewStream implements grpc.ClientConnInterface.
func (c *Conn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, options ...grpc.CallOption) (grpc.ClientStream, error) {
	conn, err := c.connect(ctx, Streams)
	if err != nil {
		return nil, err
	}
	if conn == nil {
		return c.fallback.NewStream(ctx, desc, method, options...)
	}
	return newClientStream(ctx, conn, method)
}

// Invoke implements grpc.ClientConnInterface. Calls to a peer take turns. A call whose connection
// turns out to have ended is repeated once, on a new one: it must have no effect on the peer.
func (c *Conn) Invoke(ctx context.Context, method string, request, response any, options ...grpc.CallOption) error {
	select {
	case <-c.turn:
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
	defer func() { c.turn <- struct{}{} }()
	for {
		fresh, err := c.ensureCalls(ctx)
		if err != nil {
			return err
		}
		if c.calls == nil {
			return c.fallback.Invoke(ctx, method, request, response, options...)
		}
		err = c.call(ctx, method, request.(proto.Message), response.(proto.Message))
		if _, broken := errors.AsType[*brokenError](err); !broken || fresh || ctx.Err() != nil {
			return err
		}
	}
}

// ensureCalls connects for calls, unless there is a connection. fresh reports whether it did.
func (c *Conn) ensureCalls(ctx context.Context) (fresh bool, err error) {
	if c.calls != nil {
		return false, nil
	}
	conn, err := c.connect(ctx, Calls)
	if err != nil {
		return false, err
	}
	c.setCalls(conn)
	if c.closed.Load() {
		c.dropCalls()
		return false, status.Error(codes.Canceled, "the client is closed")
	}
	return true, nil
}

func (c *Conn) setCalls(conn *framed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = conn
}

func (c *Conn) dropCalls() {
	c.silent = time.Time{}
	if conn := c.calls; conn != nil {
		c.setCalls(nil)
		conn.Close()
	}
}

// brokenError reports that the connection has ended.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// GRPCStatus gives the error the code of a peer that can't be reached.
func (e *brokenError) GRPCStatus() *status.Status { return status.New(codes.Unavailable, e.Error()) }

// interruptReads makes reads of the connection time out once ctx ends, until the caller calls stop.
// Then it no longer changes the deadline, which may be that of the next call.
func interruptReads(ctx context.Context, conn net.Conn) (stop func()) {
	interrupted := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		_ = conn.SetReadDeadline(time.Unix(1, 0)) // an error means that the connection has ended
	})
	return func() {
		if !cancel() {
			<-interrupted
		}
	}
}

// call makes a call and waits for its return. It skips the returns of former calls whose callers
// stopped waiting.
func (c *Conn) call(ctx context.Context, method string, request, response proto.Message) error {
	conn := c.calls
	c.number++
	if c.silent.IsZero() {
		c.silent = time.Now()
	}
	head := binary.BigEndian.AppendUint64(make([]byte, 0, callBytes+len(method)), c.number)
	deadline, limited := ctx.Deadline()
	left := uint64(0)
	if limited {
		left = uint64(max(time.Until(deadline), 1))
	}
	head = append(binary.BigEndian.AppendUint64(head, left), byte(len(method)))
	if err := conn.write(kindCall, append(head, method...), request); err != nil {
		c.dropCalls()
		return &brokenError{fmt.Errorf("send a request: %w", err)}
	}
	if err := conn.SetReadDeadline(deadline); err != nil { // none, if the deadline is zero
		c.dropCalls()
		return &brokenError{err}
	}
	defer interruptReads(ctx, conn)()
	for {
		k, content, err := conn.read()
		if err == nil {
			c.silent = time.Time{}
		}
		switch {
		case isTimeout(err): // the deadline of ctx, which may end a moment later, or its end
			<-ctx.Done()
			if time.Since(c.silent) >= callSilence {
				c.dropCalls()
			}
			return status.FromContextError(ctx.Err()).Err()
		case err != nil:
			c.dropCalls()
			if ctx.Err() != nil {
				return status.FromContextError(ctx.Err()).Err()
			}
			return &brokenError{fmt.Errorf("wait for a response: %w", err)}
		case k != kindReturn || len(content) < returnBytes:
			c.dropCalls()
			return unexpected(k, content)
		case binary.BigEndian.Uint64(content) != c.number:
			c.silent = time.Now()
		case codes.Code(binary.BigEndian.Uint32(content[8:])) != codes.OK:
			return statusOf(content[8:])
		default:
			return proto.Unmarshal(content[returnBytes:], response)
		}
	}
}
