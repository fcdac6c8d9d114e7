package client_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"quorate/chaos/client"
)

const stored = `{"metadata":{"name":"a","resourceVersion":"7","uid":"u"},"data":{"value":"x"}}`

// create sends one write.
func create(t *testing.T, c *client.Client) (client.Object, client.Outcome, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return c.Create(ctx, "ns", "a", map[string]string{"value": "x"})
}

// TestWriteOutcomes checks that the client sends a write only once, however it ends, and reports
// Unavailable only if the write certainly was not applied.
func TestWriteOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		behave behaviour
		want   client.Outcome
		whole  int // how many requests the peer may see whole
	}{
		"answered":                       {func(w *wire) { w.answer(w.request(true), "201", stored); w.drain() }, client.OK, 1},
		"503 is surely not applied":      {func(w *wire) { w.answer(w.request(true), "503", failed(503, "ServiceUnavailable")); w.drain() }, client.Unavailable, 1},
		"507 is surely not applied":      {func(w *wire) { w.answer(w.request(true), "507", failed(507, "InsufficientStorage")); w.drain() }, client.Unavailable, 1},
		"504 may have been applied":      {func(w *wire) { w.answer(w.request(true), "504", failed(504, "Timeout")); w.drain() }, client.Unknown, 1},
		"409":                            {func(w *wire) { w.answer(w.request(true), "409", failed(409, "Conflict")); w.drain() }, client.Conflict, 1},
		"an answer that is no object":    {func(w *wire) { w.answer(w.request(true), "201", "<html>"); w.drain() }, client.Refused, 1},
		"the connection ends in silence": {func(w *wire) { w.request(true) }, client.Unknown, 1},
		"an answer breaks off":           {func(w *wire) { w.begin(w.request(true), "201", stored[:9]) }, client.Unknown, 1},
		"the stream is refused": {func(w *wire) {
			_ = w.WriteRSTStream(w.request(true), http2.ErrCodeRefusedStream)
			w.drain()
		}, client.Unavailable, 1},
		"the stream is cancelled by the peer": {func(w *wire) {
			_ = w.WriteRSTStream(w.request(true), http2.ErrCodeInternal)
			w.drain()
		}, client.Unknown, 1},
		// net/http's pool takes this for a reason to send a request again (golang.org/issue/42777).
		"the stream is reset with PROTOCOL_ERROR": {func(w *wire) {
			_ = w.WriteRSTStream(w.request(true), http2.ErrCodeProtocol)
			w.drain()
		}, client.Unknown, 1},
		"the peer goes away before the stream": {func(w *wire) {
			w.request(true)
			_ = w.WriteGoAway(0, http2.ErrCodeNo, nil)
			w.drain()
		}, client.Unavailable, 1},
		"the peer goes away after the stream": {func(w *wire) {
			_ = w.WriteGoAway(w.request(true), http2.ErrCodeNo, nil)
			w.drain()
		}, client.Unknown, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, c.behave)
			_, outcome, err := create(t, p.client())
			if outcome != c.want || (err == nil) != (c.want == client.OK) {
				t.Errorf("%v, want %v: %v", outcome, c.want, err)
			}
			if accepted, _, whole := p.counts(); accepted != 1 || whole > c.whole {
				t.Errorf("%d connections, %d whole requests: it was sent again", accepted, whole)
			}
		})
	}
}

// TestNothingIsSentWithoutAConnection checks that a request without a connection is Unavailable, at
// the latest after the time limit for connecting.
func TestNothingIsSentWithoutAConnection(t *testing.T) {
	gone := newPeer(t, nil)
	gone.listener.Close()
	foreign, ca := newPeer(t, func(w *wire) { w.request(true) }), newPeer(t, nil).ca
	foreign.ca = ca
	for name, p := range map[string]*peer{
		"nobody listens":                   gone,
		"the peer is another":              foreign,
		"the peer takes no TLS handshakes": newPeer(t, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			if _, outcome, err := create(t, p.client()); outcome != client.Unavailable {
				t.Errorf("%v: %v", outcome, err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v to find out", took)
			}
		})
	}
}

// TestDeadPeerIsNoticed checks that the client gives up a silent peer, as after the loss of all
// packets, long before the request's own deadline.
func TestDeadPeerIsNoticed(t *testing.T) {
	silent := make(chan struct{})
	p := newPeer(t, func(w *wire) { w.request(true); <-silent })
	t.Cleanup(func() { close(silent) })
	began := time.Now()
	if _, outcome, err := create(t, p.client()); outcome != client.Unknown {
		t.Errorf("%v: %v", outcome, err)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it took %v to notice", took)
	}
}

// TestCancelledBeforeItsTurn checks that a write which is cancelled while it waits for a connection
// is Unavailable.
func TestCancelledBeforeItsTurn(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, outcome, err := newPeer(t, nil).client().Create(ctx, "ns", "a", nil)
	if outcome != client.Unavailable || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v: %v", outcome, err)
	}
}

// TestManyShareConnections checks that concurrent requests share one connection per lane, and
// succeed after it has ended.
func TestManyShareConnections(t *testing.T) {
	p := newPeer(t, func(w *wire) {
		for range 60 {
			stream := w.request(true)
			if stream == 0 {
				return
			}
			w.answer(stream, "201", stored)
		}
		w.drain()
	})
	c := p.client()
	for round := range 2 {
		var all sync.WaitGroup
		for n := range 40 {
			all.Go(func() {
				for { // each connection ends after some requests
					_, outcome, err := create(t, c.Lane(n))
					if outcome == client.OK {
						return
					}
					if outcome != client.Unknown && outcome != client.Unavailable {
						t.Errorf("%v: %v", outcome, err)
						return
					}
				}
			})
		}
		all.Wait()
		if accepted, _, _ := p.counts(); accepted > 4*(round+2) {
			t.Errorf("%d connections after round %d", accepted, round)
		}
	}
}

func TestClosedClientSendsNothing(t *testing.T) {
	p := newPeer(t, func(w *wire) { w.request(true) })
	c := p.client()
	c.Close()
	if _, outcome, err := create(t, c); outcome != client.Unavailable {
		t.Errorf("%v: %v", outcome, err)
	}
	if accepted, _, _ := p.counts(); accepted != 0 {
		t.Error("it dialled")
	}
}

func TestAddressesAreChecked(t *testing.T) {
	_, ca := issue(t)
	for _, base := range []string{"", "127.0.0.1:1", "http://127.0.0.1:1", "https://"} {
		if _, err := client.New(base, client.Credentials{CA: ca}); err == nil {
			t.Errorf("%q is taken for an address", base)
		}
	}
	if _, err := client.New("https://127.0.0.1:1", client.Credentials{CA: []byte("x")}); err == nil {
		t.Error("no certificate is taken for one")
	}
}

// TestWatchTellsBrokenFromWrong checks that a watch distinguishes a stream that breaks off from a
// response that no correct server sends.
func TestWatchTellsBrokenFromWrong(t *testing.T) {
	event := `{"type":"ADDED","object":` + stored + "}\n"
	for name, c := range map[string]struct {
		lines    string
		events   int
		is, isnt error
	}{
		"a clean end":          {event + event, 2, nil, nil},
		"half an event":        {event + event[:20], 1, nil, client.ErrRefused},
		"nonsense":             {event + "nonsense\n" + event, 1, client.ErrRefused, nil},
		"a version is missing": {`{"type":"ADDED","object":{"metadata":{}}}` + "\n", 0, client.ErrRefused, nil},
		"too old":              {`{"type":"ERROR","object":` + failed(410, "Expired") + "}\n", 0, client.ErrExpired, client.ErrRefused},
		"not now":              {`{"type":"ERROR","object":` + failed(504, "Timeout") + "}\n", 0, nil, client.ErrRefused},
		"not allowed":          {`{"type":"ERROR","object":` + failed(403, "Forbidden") + "}\n", 0, client.ErrRefused, nil},
		"internal error":       {`{"type":"ERROR","object":` + failed(500, "InternalError") + "}\n", 0, client.ErrRefused, client.ErrExpired},
		"too old, no reason":   {`{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"m","code":410}}` + "\n", 0, client.ErrRefused, client.ErrExpired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, func(w *wire) { w.answer(w.request(true), "200", c.lines); w.drain() })
			events := 0
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			err := p.client().Watch(ctx, "ns", 1, func() {}, func(client.Event) { events++ })
			if events != c.events {
				t.Errorf("%d events, want %d", events, c.events)
			}
			if c.is != nil && !errors.Is(err, c.is) || c.isnt != nil && (err == nil || errors.Is(err, c.isnt)) {
				t.Errorf("error %v", err)
			}
			if name == "a clean end" && err != nil {
				t.Error(err)
			}
		})
	}
}
