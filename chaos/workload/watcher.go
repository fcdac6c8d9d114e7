package workload

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// habit determines how a watcher behaves.
type habit int

const (
	steady    habit = iota // from the beginning, each stream for as long as it lasts
	restless               // from the beginning, and soon at another node
	latecomer              // from a list some time after the beginning
	habits    = iota
)

const (
	// shortStay and longStay are the minimum and maximum duration of a restless watcher's stream.
	shortStay, longStay = 100 * time.Millisecond, 4 * time.Second
	// latest is the maximum delay before a late watcher begins.
	latest = 5 * time.Second
)

// watcher follows all changes from one version on. When a stream ends, for any reason, the watcher
// continues after the last event or bookmark, on any node.
type watcher struct {
	worker
	habit habit

	mu    sync.Mutex
	ended []history.Watch // guarded by mu: those whose position had expired
	now   history.Watch   // guarded by mu
}

// run watches until ctx is done.
func (w *watcher) run(ctx context.Context) {
	after, begun := w.start, true
	if w.habit == latecomer {
		wait(ctx, w.between(0, latest))
		after, begun = w.arrive(ctx)
	}
	for begun {
		w.mu.Lock()
		w.now = history.Watch{Client: w.number, After: after, Reached: after}
		w.mu.Unlock()
		if !w.follow(ctx) {
			return
		}
		w.Log.Warn("watch position expired", "client", w.number, "position", w.position())
		w.mu.Lock()
		w.ended, w.now = append(w.ended, w.now), history.Watch{}
		w.mu.Unlock()
		after, begun = w.arrive(ctx)
	}
}

// arrive lists until it has a version to watch from, or ctx is done.
func (w *watcher) arrive(ctx context.Context) (version uint64, listed bool) {
	for ctx.Err() == nil {
		if version, listed = w.list(ctx); listed {
			return version, true
		}
		w.rest(ctx)
	}
	return 0, false
}

// follow opens one stream after the other until ctx is done or the position has expired.
func (w *watcher) follow(ctx context.Context) (expired bool) {
	for ctx.Err() == nil {
		target, found := w.Targets.pick(w.rand)
		if found {
			err := w.stream(ctx, target)
			if errors.Is(err, client.ErrExpired) {
				w.mu.Lock()
				w.now.Expired = &history.Expiry{Node: target.Name, At: w.Recorder.Now(), Text: err.Error()}
				w.mu.Unlock()
				return true
			}
			if errors.Is(err, client.ErrRefused) {
				w.Recorder.Refused(fmt.Sprintf("watch after %d on %s: %v", w.position(), target.Name, err))
			}
		}
		w.rest(ctx)
	}
	return false
}

func (w *watcher) stream(ctx context.Context, target Target) error {
	if w.habit == restless {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.between(shortStay, longStay))
		defer cancel()
	}
	opened := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.now.Streams++
	}
	return target.Client.Lane(w.number).Watch(ctx, w.Namespace, w.position(), opened, func(e client.Event) { w.take(target.Name, e) })
}

func (w *watcher) take(node string, e client.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// The last version becomes the position even if it is lower than the one before: the checker
	// must see what a client would experience.
	w.now.Reached = e.Version
	if e.Type != "BOOKMARK" {
		event := history.Event{Type: intern(e.Type), Item: itemOf(e.Object), Node: node, Arrived: w.Recorder.Now()}
		w.now.Events = append(w.now.Events, event)
	}
}

// position returns the version of the last event or bookmark, or 0 before the watcher has begun.
func (w *watcher) position() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now.Reached
}

// watches returns the watches of the watcher, which must have ended.
func (w *watcher) watches() []history.Watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now.Client = w.number // also of one that never came, which is for the checker to judge
	return append(w.ended, w.now)
}
