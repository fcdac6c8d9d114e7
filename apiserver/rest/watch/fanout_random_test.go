package watch

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/objects/schema"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// TestSubscribersSeeEveryChangeOnce: while streams begin, end, resume and refuse batches, each
// client receives every change once, in order.
func TestSubscribersSeeEveryChangeOnce(t *testing.T) {
	t.Parallel()
	hub, err := history.New(history.Config{})
	if err != nil {
		t.Fatal(err)
	}
	streams := New(atMost(1000), prometheus.NewRegistry())
	const changes, watchers = 3000, 40
	var served sync.WaitGroup
	for w := range watchers {
		served.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			for after := uint64(0); after < changes; {
				p := &checker{t: t, after: after, until: min(changes, after+1+random.Uint64N(900)), random: random, connection: w % 3}
				ctx, cancel := context.WithCancel(t.Context())
				p.leave = cancel
				err := streams.serve(ctx, p, Options{
					Projection: Projection{Kind: &schema.Kind{}}, Timeout: time.Hour, Header: func() error { return nil },
					Start: func(context.Context) (Start, error) {
						return Start{After: after, Changes: hub.Watch(all(), after)}, nil
					},
					Faults: faults(func(err error) { t.Errorf("internal error: %v", err) }),
				})
				cancel()
				if err != nil || p.after < p.until {
					t.Errorf("watcher %d ended at %d of %d: %v", w, p.after, p.until, err)
					return
				}
				after = p.after
			}
		})
	}
	random := rand.New(rand.NewPCG(2, 2))
	for index := uint64(1); index <= changes; {
		var batch []*history.Event
		for range 1 + random.IntN(4) {
			if index <= changes {
				batch = append(batch, &history.Event{Index: index, Type: history.Added, Object: &state.Object{
					Key: state.NewKey("pods", "x", "p"), Value: fmt.Appendf(nil, `{"i":%d}`, index),
				}})
				index++
			}
		}
		hub.Append(index-1, batch)
	}
	served.Wait()
	hub.Close()
}

// checker is a client that checks the order of the events it receives and disconnects after the
// last one that it wants. It refuses about one batch in ten.
type checker struct {
	resumable
	t            *testing.T
	after, until uint64
	connection   any
	leave        context.CancelFunc
	random       *rand.Rand

	mu  sync.Mutex
	got strings.Builder
}

func (c *checker) Header() http.Header { return http.Header{} }
func (c *checker) WriteHeader(int)     {}
func (c *checker) Connection() any     { return c.connection }
func (c *checker) Pending() bool       { return false }

func (c *checker) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got.Write(b)
}

func (c *checker) FlushError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

func (c *checker) TryEnqueue(b []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.random.IntN(10) == 0 {
		return false
	}
	c.got.Write(b)
	return c.read() == nil
}

// read checks and clears the bytes received. mu is held.
func (c *checker) read() error {
	for line := range strings.Lines(c.got.String()) {
		var index uint64
		if _, err := fmt.Sscanf(line, `{"type":"ADDED","object":{"i":%d}}`, &index); err != nil || index != c.after+1 {
			c.t.Errorf("%q after %d: %v", line, c.after, err)
			c.leave()
			return io.ErrUnexpectedEOF
		}
		c.after = index
	}
	c.got.Reset()
	if c.after >= c.until {
		c.leave()
	}
	return nil
}
