package direct

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// clientStream is a stream of a client, which has a connection of its own. It implements
// grpc.ClientStream. Header, if it is called, must return before RecvMsg is called.
type clientStream struct {
	ctx    context.Context
	conn   *framed
	stop   func() bool // ends the closing of the connection with ctx
	pinged bool
	header bool
	done   error // set by RecvMsg at the end of the stream
}

// newClientStream begins a stream on a connection, which ends with ctx.
func newClientStream(ctx context.Context, conn *framed, method string) (*clientStream, error) {
	s := &clientStream{ctx: ctx, conn: conn, stop: context.AfterFunc(ctx, func() { conn.Close() })}
	if err := conn.write(kindMethod, []byte(method), nil); err != nil {
		return nil, errors.Join(fmt.Errorf("begin stream: %w", err), s.end(err))
	}
	return s, nil
}

// end closes the connection, and returns why the stream has ended: the end of ctx, if that caused
// err.
func (s *clientStream) end(err error) error {
	if s.done == nil {
		s.done = err
		if s.ctx.Err() != nil {
			s.done = status.FromContextError(s.ctx.Err()).Err()
		}
		s.stop()
		s.conn.Close()
	}
	return s.done
}

// Header waits until the server has accepted the stream.
func (s *clientStream) Header() (metadata.MD, error) {
	for !s.header {
		k, content, err := s.next()
		if err != nil {
			return nil, err
		}
		if k != kindHeader {
			return nil, s.end(unexpected(k, content))
		}
		s.header = true
	}
	return metadata.MD{}, nil
}

func (s *clientStream) Trailer() metadata.MD { return nil }

// CloseSend does nothing: a client ends a stream with its context.
func (s *clientStream) CloseSend() error { return nil }

func (s *clientStream) Context() context.Context { return s.ctx }

// SendMsg implements grpc.ClientStream. After an error the stream has ended.
func (s *clientStream) SendMsg(m any) error {
	if err := s.conn.write(kindMessage, nil, m.(proto.Message)); err != nil {
		s.conn.Close() // which ends RecvMsg
		return err
	}
	return nil
}

// RecvMsg implements grpc.ClientStream.
func (s *clientStream) RecvMsg(m any) error {
	for {
		k, content, err := s.next()
		switch {
		case err != nil:
			return err
		case k == kindHeader:
			s.header = true
		case k == kindMessage:
			if err := proto.Unmarshal(content, m.(proto.Message)); err != nil {
				return s.end(fmt.Errorf("decode message: %w", err))
			}
			return nil
		default:
			return s.end(unexpected(k, content))
		}
	}
}

// next returns the next frame but pongs, and pings a silent server.
func (s *clientStream) next() (kind, []byte, error) {
	if s.done != nil {
		return 0, nil, s.done
	}
	for {
		if err := s.conn.SetReadDeadline(time.Now().Add(pingInterval)); err != nil {
			return 0, nil, s.end(err)
		}
		k, content, err := s.conn.read()
		switch {
		case isTimeout(err) && !s.pinged:
			s.pinged = true
			if err := s.conn.write(kindPing, nil, nil); err != nil {
				return 0, nil, s.end(err)
			}
		case isTimeout(err):
			return 0, nil, s.end(fmt.Errorf("the peer has not responded for %s", pingInterval+pingTimeout))
		case err != nil:
			return 0, nil, s.end(err)
		case k == kindPong:
			s.pinged = false
		case k == kindStatus:
			return 0, nil, s.end(statusOf(content))
		default:
			s.pinged = false
			return k, content, nil
		}
	}
}

func unexpected(k kind, content []byte) error {
	return fmt.Errorf("unexpected frame of kind %d and %d bytes", k, len(content))
}

// serverStream is a stream of a server. It implements grpc.ServerStream. SendMsg may be called while
// RecvMsg is.
type serverStream struct {
	ctx  context.Context
	conn *framed
}

func (s *serverStream) SetHeader(metadata.MD) error  { return nil }
func (s *serverStream) SetTrailer(metadata.MD)       {}
func (s *serverStream) Context() context.Context     { return s.ctx }
func (s *serverStream) SendHeader(metadata.MD) error { return s.conn.write(kindHeader, nil, nil) }

// SendMsg implements grpc.ServerStream.
func (s *serverStream) SendMsg(m any) error {
	return s.conn.write(kindMessage, nil, m.(proto.Message))
}

// RecvMsg implements grpc.ServerStream, and responds to pings.
func (s *serverStream) RecvMsg(m any) error {
	for {
		if err := s.conn.SetReadDeadline(time.Now().Add(silence)); err != nil {
			return err
		}
		k, content, err := s.conn.read()
		switch {
		case errors.Is(err, io.EOF):
			return status.Error(codes.Canceled, "the client has closed the stream")
		case err != nil:
			return err
		case k == kindPing:
			if err := s.conn.write(kindPong, nil, nil); err != nil {
				return err
			}
		case k == kindMessage:
			return proto.Unmarshal(content, m.(proto.Message))
		default:
			return unexpected(k, content)
		}
	}
}

// A status is the code in four bytes, and the message.
func appendStatus(b []byte, err error) []byte {
	s, _ := status.FromError(err)
	return append(binary.BigEndian.AppendUint32(b, uint32(s.Code())), s.Message()...)
}

// statusOf returns the error of a status, io.EOF if the stream has ended without one.
func statusOf(b []byte) error {
	if len(b) < 4 {
		return errors.New("a status is cut short")
	}
	if code := codes.Code(binary.BigEndian.Uint32(b)); code != codes.OK {
		return status.Error(code, string(b[4:]))
	}
	return io.EOF
}
