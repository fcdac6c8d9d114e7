package apiserver_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestShutdownOrder: the server stops accepting and ends its watches while a write under way is
// still let finish.
func TestShutdownOrder(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	w := open(t, s, cms+"?watch=1&resourceVersion=0")

	// A create whose body is not complete yet is under way.
	body, send := io.Pipe()
	req := s.Request("POST", cms, configMap("late"))
	req.Body, req.ContentLength = body, int64(len(configMap("late")))
	answered := make(chan int, 1)
	go func() {
		resp, err := s.Client.Do(req)
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		resp.Body.Close()
		answered <- resp.StatusCode
	}()
	half := len(configMap("late")) / 2
	if _, err := io.WriteString(send, configMap("late")[:half]); err != nil {
		t.Fatal(err)
	}
	s.Eventually("the create is under way", func() bool {
		return strings.Contains(s.Do("GET", "/metrics", "").Body, `quorate_apiserver_requests_in_flight{class="write"} 1`)
	})

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.Stop()
	}()
	w.want("EOF")
	address := strings.TrimPrefix(s.URL, "https://")
	s.Eventually("no connection is accepted", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	select {
	case <-stopped:
		t.Fatal("stopped with a write under way")
	default:
	}
	if _, err := io.WriteString(send, configMap("late")[half:]); err != nil {
		t.Fatal(err)
	}
	send.Close()
	if code := <-answered; code != 200 {
		t.Errorf("the write under way got %d", code)
	}
	<-stopped
}
