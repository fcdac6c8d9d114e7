package apiserver_test

import (
	"crypto/tls"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestHandshakesWait: a handshake waits while as many of its address are computed as may be, and
// others end without leaving anything of the bound, whether they succeed or not.
func TestHandshakesWait(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	queue := s.Server.Handshakes()
	const address = "127.0.0.1"
	dial := func(protocol string) error {
		dialer := tls.Dialer{Config: &tls.Config{NextProtos: []string{protocol}, InsecureSkipVerify: true}}
		conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "https://"))
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	for range 20 {
		if err := dial("h2"); err != nil {
			t.Fatal(err)
		}
		if dial("no-such-protocol") == nil {
			t.Fatal("a handshake without a common protocol succeeds")
		}
	}
	s.Eventually("nothing is left of ended handshakes", func() bool { return queue.Used() == 0 })

	const all = 1 << 30 // which the queue grants while nothing else is held
	if err := queue.Acquire(t.Context(), address, all); err != nil {
		t.Fatal(err)
	}
	dialed := make(chan error, 1)
	go func() { dialed <- dial("h2") }()
	s.Eventually("the handshake waits", func() bool { return queue.Waiters() == 1 })
	select {
	case err := <-dialed:
		t.Fatalf("the handshake ended (%v) while others have all of the bound", err)
	default:
	}
	queue.Release(address, all)
	if err := <-dialed; err != nil {
		t.Error(err)
	}
	s.Eventually("nothing is left", func() bool { return queue.Used() == 0 })
}
