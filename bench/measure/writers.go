package measure

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"quorate/bench/servers"
	"quorate/bench/solo"
)

const (
	// writersPerNode is the number of writes that a node may have at a time. A write that is due
	// when all are waiting begins late, which its latency includes.
	writersPerNode = 64
	ownObjects     = 1000
	written        = "/api/v1/namespaces/default/configmaps"
)

// Writers write at a fixed rate to objects of their own, on all nodes, until they are stopped. The
// latency of a write counts from the moment that it was due, so that a node that stops for a second
// shows in the writes that were due in that second.
type Writers struct {
	clients []*solo.Client // one a node
	stopped context.CancelFunc
	work    sync.WaitGroup
	next    atomic.Int64 // number of the next write

	mu     sync.Mutex
	phase  string
	phases map[string]*solo.Summary
}

// StartWriters creates the objects that are written, and begins.
func StartWriters(ctx context.Context, c *servers.Cluster, perSecond int) (*Writers, error) {
	w := &Writers{phases: make(map[string]*solo.Summary)}
	for node := range c.Endpoints {
		client, err := c.Client(node)
		if err != nil {
			return nil, err
		}
		w.clients = append(w.clients, client)
	}
	for i := range ownObjects {
		code, err := w.clients[0].Do(ctx, http.MethodPost, written, fmt.Sprintf(`{"metadata":{"name":"written-%d"}}`, i))
		if err != nil {
			return nil, fmt.Errorf("create an object to write: %w", err)
		}
		if code >= 300 && code != http.StatusConflict {
			return nil, fmt.Errorf("create an object to write: code %d", code)
		}
	}
	ctx, w.stopped = context.WithCancel(ctx)
	begun := time.Now()
	interval := time.Second / time.Duration(perSecond)
	for _, client := range w.clients {
		for range writersPerNode {
			w.work.Go(func() { w.write(ctx, client, begun, interval) })
		}
	}
	return w, nil
}

// write performs one write after the other, each when it is due.
func (w *Writers) write(ctx context.Context, client *solo.Client, begun time.Time, interval time.Duration) {
	for {
		n := w.next.Add(1) - 1
		due := begun.Add(time.Duration(n) * interval)
		timer := time.NewTimer(time.Until(due))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		path := fmt.Sprintf("%s/written-%d", written, n%ownObjects)
		code, err := client.Do(ctx, http.MethodPatch, path, fmt.Sprintf(`{"data":{"value":"%d"}}`, n),
			"Content-Type", "application/merge-patch+json")
		if ctx.Err() != nil {
			return
		}
		w.record(time.Since(due), code, err)
	}
}

func (w *Writers) record(took time.Duration, code int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.phases[w.phase]; s != nil {
		s.Add(took, code, err)
	}
}

// Begin makes the following results those of a phase, of none if its name is empty.
func (w *Writers) Begin(phase string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phase = phase
	if phase != "" {
		w.phases[phase] = &solo.Summary{}
	}
}

// Phase returns the results of a phase that has begun, and ended.
func (w *Writers) Phase(name string) *solo.Summary {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.phases[name]
}

// Stop ends the writers.
func (w *Writers) Stop() {
	w.stopped()
	w.work.Wait()
	for _, c := range w.clients {
		c.Close()
	}
}
