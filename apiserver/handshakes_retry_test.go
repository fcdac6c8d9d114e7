package apiserver

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// handshakeServer computes handshakes, and serves nothing.
type handshakeServer struct {
	*connections
	t      *testing.T
	config *tls.Config
	wrote  chan int64 // what the queue had given out when each record was written
	ended  chan error // the results of handshakes
}

// tapListener calls wrote before each write of its connections.
type tapListener struct {
	net.Listener
	wrote func()
}

type tapConn struct {
	net.Conn
	wrote func()
}

func (l tapListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return tapConn{c, l.wrote}, err
}

func (c tapConn) Write(p []byte) (int, error) {
	c.wrote()
	return c.Conn.Write(p)
}

// startRetryServer returns a server that answers each first ClientHello with a HelloRetryRequest:
// no client sends a share for the only group that it takes.
func startRetryServer(t *testing.T) *handshakeServer {
	t.Helper()
	return startHandshakeServer(t, &tls.Config{CurvePreferences: []tls.CurveID{tls.CurveP384}})
}

func startHandshakeServer(t *testing.T, config *tls.Config) *handshakeServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &handshakeServer{t: t, config: config, wrote: make(chan int64, 100), ended: make(chan error, 100)}
	s.connections = guard(tapListener{listener, func() { s.wrote <- s.handshakes.Used() }}, Limits{}.withDefaults(),
		newMetrics(prometheus.NewRegistry()))
	other := httptest.NewTLSServer(nil) // for its certificate
	defer other.Close()
	config.Certificates, config.GetConfigForClient = other.TLS.Certificates, s.admitHandshake
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			raw, err := s.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				s.ended <- tls.Server(raw, s.config).Handshake()
				_, _ = io.Copy(io.Discard, raw)
				_ = raw.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	return s
}

// until waits for a condition.
func (s *handshakeServer) until(what string, holds func() bool) {
	s.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			s.t.Fatalf("waited for: %s", what)
		}
	}
}

// awaitTurn waits until a client has reached its second flight, lets it go on while others have all
// of the bound, and gives the bound back once the handshake waits. ended receives the end of the
// handshake, which may not come before.
func (s *handshakeServer) awaitTurn(reached <-chan struct{}, goOn chan<- struct{}, ended <-chan error) {
	s.t.Helper()
	<-reached
	s.until("a server that waits for the client holds nothing", func() bool { return s.handshakes.Used() == 0 })
	const all = 1 << 30
	if err := s.handshakes.Acquire(s.t.Context(), "others", all); err != nil {
		s.t.Fatal(err)
	}
	close(goOn)
	s.until("the second flight waits", func() bool { return s.handshakes.Waiters() == 1 })
	select {
	case err := <-ended:
		s.t.Fatalf("the handshake ended (%v) while others have all of the bound", err)
	default:
	}
	s.handshakes.Release("others", all)
}

// handshakeRecord is the first byte of a TLS record that holds messages of the handshake.
const handshakeRecord = 22

// pausedConn writes its second ClientHello when it may go on.
type pausedConn struct {
	net.Conn
	writes  [][]byte // up to that one
	hellos  int
	reached chan struct{}
	goOn    chan struct{}
}

func (c *pausedConn) Write(p []byte) (int, error) {
	if c.hellos < 2 {
		c.writes = append(c.writes, slices.Clone(p))
		if p[0] == handshakeRecord {
			c.hellos++
		}
		if c.hellos == 2 {
			close(c.reached)
			<-c.goOn
		}
	}
	return c.Conn.Write(p)
}

// TestSecondHelloWaits: the key exchange and the signature that follow a HelloRetryRequest wait for
// their turn, and a client that does not answer the request keeps nobody waiting.
func TestSecondHelloWaits(t *testing.T) {
	t.Parallel()
	s := startRetryServer(t)
	raw, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	conn := &pausedConn{Conn: raw, reached: make(chan struct{}), goOn: make(chan struct{})}
	client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	ended := make(chan error, 1)
	go func() { ended <- client.Handshake() }()
	s.awaitTurn(conn.reached, conn.goOn, ended)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !client.ConnectionState().HelloRetryRequest {
		t.Error("the handshake had no HelloRetryRequest")
	}
	s.until("nothing is left", func() bool { return s.handshakes.Used() == 0 })
}

// TestSecondHelloSentAhead: a client that sends both of its ClientHellos at once has a place until
// the answer to the second one is computed.
func TestSecondHelloSentAhead(t *testing.T) {
	t.Parallel()
	raw, err := net.Dial("tcp", startRetryServer(t).Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn := &pausedConn{Conn: raw, reached: make(chan struct{}), goOn: make(chan struct{})}
	ended := make(chan error, 1)
	go func() { ended <- tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).Handshake() }()
	<-conn.reached
	_ = raw.Close()
	close(conn.goOn)
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}

	s := startRetryServer(t) // asks for the same, so that the second ClientHello fits
	both, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	if _, err := both.Write(slices.Concat(conn.writes...)); err != nil {
		t.Fatal(err)
	}
	// A HelloRetryRequest, a ChangeCipherSpec, and the key exchange with the signature.
	for i := range 3 {
		if held := <-s.wrote; held != 1 {
			t.Errorf("at write %d the server holds %d places, want 1", i, held)
		}
	}
	s.until("a server that waits for the client holds nothing", func() bool { return s.handshakes.Used() == 0 })
}
