package h2

import (
	"context"
	"io"
	"net/http"
	"testing"
)

// TestShutdownServesUntilPingIsAcknowledged: after the first GOAWAY the server serves requests
// until the client has acknowledged the PING, even if no stream is open in between.
func TestShutdownServesUntilPingIsAcknowledged(t *testing.T) {
	t.Parallel()
	begun, finish := make(chan struct{}), make(chan struct{})
	s := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			begun <- struct{}{}
			<-finish
		}
	}))
	r := dialRaw(t, s.addr, s.roots)
	slow := r.get("/slow", true)
	<-begun
	down := make(chan error, 1)
	go func() { down <- s.http.Shutdown(context.Background()) }()
	if last := r.goAway(); last != maxWindow {
		t.Errorf("first GOAWAY names stream %d, want %d", last, maxWindow)
	}
	finish <- struct{}{}
	if a := r.await(slow); a.status != "200" {
		t.Errorf("request open at the shutdown: %+v", a)
	}
	r.wantServed()
	r.must(r.fr.WritePing(true, drainPing()))
	if last := r.goAway(); last != r.nextID-2 {
		t.Errorf("second GOAWAY names stream %d, want %d", last, r.nextID-2)
	}
	if _, err := r.fr.ReadFrame(); err != io.EOF {
		t.Errorf("the connection is not closed: %v", err)
	}
	_ = r.nc.Close()
	if err := <-down; err != nil {
		t.Error(err)
	}
}
