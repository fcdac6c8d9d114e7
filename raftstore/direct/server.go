package direct

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Server serves the methods of registered services. It implements grpc.ServiceRegistrar.
type Server struct {
	// peerContext returns a context that names the peer at the other end of a connection.
	peerContext func(context.Context, net.Conn) context.Context
	logger      *slog.Logger
	methods     map[string]method // by full name; not changed while the server serves

	mu        sync.Mutex
	listeners []net.Listener // guarded by mu, as the rest
	conns     map[*framed]*serving
	ending    bool
	serving   sync.WaitGroup
}

// serving is the work for a connection.
type serving struct {
	ctx    context.Context
	cancel context.CancelFunc
	stream bool
}

// method is a unary method or a stream.
type method struct {
	service any
	unary   func(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error)
	stream  grpc.StreamHandler
}

// NewServer returns a Server without services.
func NewServer(peerContext func(context.Context, net.Conn) context.Context, logger *slog.Logger) *Server {
	return &Server{peerContext: peerContext, logger: logger, methods: map[string]method{}, conns: map[*framed]*serving{}}
}

// RegisterService implements grpc.ServiceRegistrar. It must be called before Serve.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, impl any) {
	name := func(method string) string { return "/" + desc.ServiceName + "/" + method }
	for _, m := range desc.Methods {
		s.methods[name(m.MethodName)] = method{service: impl, unary: m.Handler}
	}
	for _, m := range desc.Streams {
		s.methods[name(m.StreamName)] = method{service: impl, stream: m.Handler}
	}
}

// Serve serves the connections of streams and of calls until End is called or both listeners are
// closed. It closes the listeners.
func (s *Server) Serve(streams, calls net.Listener) error {
	defer s.serving.Wait()
	if !s.listen(streams, calls) {
		return errors.Join(streams.Close(), calls.Close())
	}
	var accepting sync.WaitGroup
	errs := make([]error, 2)
	accepting.Go(func() { errs[0] = s.accept(streams, true) })
	accepting.Go(func() { errs[1] = s.accept(calls, false) })
	accepting.Wait()
	return errors.Join(errs...)
}

// listen records the listeners, unless the server is ending.
func (s *Server) listen(all ...net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = all
	return !s.ending
}

func (s *Server) accept(l net.Listener, stream bool) error {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept a connection of a peer: %w", err)
		}
		conn := newFramed(c)
		w := s.add(conn, stream)
		if w == nil {
			c.Close()
			continue
		}
		go func() {
			defer s.serving.Done()
			defer s.remove(conn, w)
			if stream {
				s.serveStream(w.ctx, conn)
			} else {
				s.serveCalls(w.ctx, conn)
			}
		}()
	}
}

// add adds a connection. It returns nil if the server is ending.
func (s *Server) add(conn *framed, stream bool) *serving {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return nil
	}
	w := &serving{stream: stream}
	w.ctx, w.cancel = context.WithCancel(s.peerContext(context.Background(), conn.Conn))
	s.conns[conn] = w
	s.serving.Add(1)
	return w
}

func (s *Server) remove(conn *framed, w *serving) {
	s.mu.Lock()
	delete(s.conns, conn)
	s.mu.Unlock()
	w.cancel()
	conn.Close()
}

// End accepts no further connections and calls. It waits for the streams to end, which is for their
// handlers to do, until ctx ends.
func (s *Server) End(ctx context.Context) {
	s.mu.Lock()
	s.ending = true
	for _, l := range s.listeners {
		l.Close()
	}
	for conn, w := range s.conns {
		if !w.stream {
			conn.Close()
		}
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		s.closeAll()
		<-ended
	}
}

func (s *Server) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn, w := range s.conns {
		w.cancel()
		conn.Close()
	}
}

// serveStream serves the stream of a connection. Its handler learns from RecvMsg that the client has
// ended the stream.
func (s *Server) serveStream(ctx context.Context, conn *framed) {
	if err := conn.SetReadDeadline(time.Now().Add(openTimeout)); err != nil {
		return // the connection has ended
	}
	k, name, err := conn.read()
	if err != nil {
		return // as above
	}
	m := s.methods[string(name)]
	if k != kindMethod || m.stream == nil {
		err = status.Errorf(codes.Unimplemented, "no stream %q", name)
	} else {
		err = m.stream(m.service, &serverStream{ctx: ctx, conn: conn})
	}
	if err := conn.write(kindStatus, appendStatus(nil, err), nil); err != nil {
		s.logger.Debug("could not end the stream of a peer", "stream", string(name), "error", err)
	}
}

// A call is a number, the time that is left to its deadline in nanoseconds, 0 for none, the length of
// the method's name in one byte, the name, and the request. A return is the number and a status; if
// that is OK, the response follows instead of a message.
const (
	callBytes   = 8 + 8 + 1
	returnBytes = 8 + 4
)

// serveCalls serves the calls of a connection one after the other.
func (s *Server) serveCalls(ctx context.Context, conn *framed) {
	for {
		if err := conn.SetReadDeadline(time.Now().Add(idleTimeout)); err != nil {
			return // the connection has ended
		}
		k, content, err := conn.read()
		if err != nil {
			return // as above
		}
		if k != kindCall || len(content) < callBytes || len(content) < callBytes+int(content[callBytes-1]) {
			s.logger.Warn("a peer sent something that is no call", "kind", k, "bytes", len(content))
			return
		}
		resp, err := s.call(ctx, content)
		if err != nil {
			resp = nil
		}
		head := make([]byte, 8, returnBytes)
		copy(head, content[:8])
		if err := conn.write(kindReturn, appendStatus(head, err), resp); err != nil {
			return // as above
		}
	}
}

// call serves one call.
func (s *Server) call(ctx context.Context, content []byte) (proto.Message, error) {
	left := int64(binary.BigEndian.Uint64(content[8:]))
	name := content[callBytes : callBytes+int(content[callBytes-1])]
	request := content[callBytes+len(name):]
	if left > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(left))
		defer cancel()
	}
	m := s.methods[string(name)]
	if m.unary == nil {
		return nil, status.Errorf(codes.Unimplemented, "no method %q", name)
	}
	resp, err := m.unary(m.service, ctx, func(into any) error { return proto.Unmarshal(request, into.(proto.Message)) }, nil)
	if err != nil {
		return nil, err
	}
	return resp.(proto.Message), nil
}
