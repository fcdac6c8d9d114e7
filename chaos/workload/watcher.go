package workload

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"quorate/chaos/client"
)

// Seen is one event as a watcher got it.
type Seen struct {
	Type    string
	Key     string
	Version uint64
	Value   string
}

// Watcher follows all ConfigMaps of a namespace from one version on. When a stream ends, for whatever reason, it goes on
// after the last event it saw, on any node.
type Watcher struct {
	Namespace string
	Targets   []Target
	After     uint64
	Rand      *rand.Rand

	mu       sync.Mutex // guards the fields below
	seen     []Seen
	streams  int
	expired  int
	position uint64
}

// Run watches until ctx is done.
func (w *Watcher) Run(ctx context.Context) {
	w.position = w.After
	for ctx.Err() == nil {
		target := w.Targets[w.Rand.IntN(len(w.Targets))]
		err := target.Client.Watch(ctx, w.Namespace, w.last(), w.opened, w.take)
		if errors.Is(err, client.ErrExpired) {
			w.mu.Lock()
			w.expired++
			w.mu.Unlock()
		}
		pause(ctx, retryPause)
	}
}

func (w *Watcher) opened() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.streams++
}

func (w *Watcher) last() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.position
}

func (w *Watcher) take(e client.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// The position is whatever came last, even if it goes back: then the checker sees what a client would suffer.
	w.position = e.Version
	if e.Type != "BOOKMARK" {
		w.seen = append(w.seen, Seen{Type: e.Type, Key: e.Object.Name, Version: e.Version, Value: e.Object.Data["value"]})
	}
}

// Position is the version of the last event or bookmark.
func (w *Watcher) Position() uint64 { return w.last() }

// Await waits until the watcher has seen a version, or a later one.
func (w *Watcher) Await(ctx context.Context, version uint64) error {
	for w.last() < version {
		pause(ctx, retryPause)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// Result returns all events in the order they came, how many streams it took, and how often a position had expired.
func (w *Watcher) Result() (seen []Seen, streams, expired int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen, w.streams, w.expired
}
