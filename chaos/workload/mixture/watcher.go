package mixture

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
	"unique"

	"quorate/chaos/check/watchmodel"
	"quorate/chaos/client"
)

const (
	// shortStay and longStay are the minimum and maximum duration of a stream that the client
	// aborts.
	shortStay, longStay = 200 * time.Millisecond, 5 * time.Second
	// maxSeconds bounds the timeoutSeconds of a stream that the server ends.
	maxSeconds = 4
	// longestPause bounds the time in which a slow reader reads nothing.
	longestPause = time.Second
	// probePause is the time between two attempts to open a forbidden watch.
	probePause = 2 * time.Second
)

// watcher is one watch, across its streams.
type watcher struct {
	*Mixture
	number int
	shape  *shape
	rand   *rand.Rand

	mu    sync.Mutex
	ended []watchmodel.Chain // guarded by mu
	now   watchmodel.Chain   // guarded by mu
}

// run watches until ctx is done: one chain of streams after the other.
func (w *watcher) run(ctx context.Context) {
	for first := true; ctx.Err() == nil; first = false {
		w.begin(ctx, first)
		if !w.follow(ctx) {
			return // ctx is done: the chain is complete
		}
		w.mu.Lock()
		w.ended = append(w.ended, w.now)
		w.mu.Unlock()
	}
}

// begin begins a chain: from a version, or with the initial events.
func (w *watcher) begin(ctx context.Context, first bool) {
	after := uint64(0)
	log := w.logs[w.shape.kind.resource]
	switch {
	case w.shape.habit == listing:
	case first:
		after = log.base
	case w.shape.habit == rewound && !w.expired():
		after = log.known(w.rand)
	default:
		version, err := w.version(ctx, w.shape.kind, w.shape.Namespace, w.shape.user)
		if err != nil { // ctx is done
			return
		}
		after = version
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.shape
	w.now = watchmodel.Chain{
		Watcher: w.number, Resource: s.kind.resource, Path: s.String(), User: s.user, Selection: s.Selection, View: s.view,
		Form: s.form, Bookmarks: s.bookmarks, Forbidden: s.forbidden, Position: after,
	}
}

// expired reports whether the last chain ended because its position was too old.
func (w *watcher) expired() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	streams := w.now.Streams
	return len(streams) > 0 && streams[len(streams)-1].Expired
}

// follow opens one stream after the other. It returns false when ctx is done, and true if the watch
// must begin again.
func (w *watcher) follow(ctx context.Context) (anew bool) {
	for ctx.Err() == nil {
		nodes := w.connections.all()
		if len(nodes) == 0 {
			wait(ctx, retryPause)
			continue
		}
		n := w.choose(nodes)
		err := w.stream(ctx, n)
		switch {
		case ctx.Err() != nil:
			return false
		case errors.Is(err, client.ErrExpired):
			return true
		case errors.Is(err, client.ErrForbidden) && w.shape.forbidden:
			wait(ctx, probePause)
		case errors.Is(err, client.ErrRefused):
			w.problem("%s on %s: %v", w.shape, n.Name, err)
		}
		if w.shape.habit == rewound && !w.settling.Load() && !w.shape.forbidden {
			wait(ctx, retryPause)
			return true
		}
		wait(ctx, time.Duration(w.rand.Int64N(int64(retryPause))))
	}
	return false
}

// choose returns a node for the next stream, with a probability of two thirds the node with the
// most streams.
func (w *watcher) choose(nodes []*node) *node {
	if w.rand.IntN(3) > 0 {
		return nodes[w.Seed%uint64(len(nodes))]
	}
	return pick(w.rand, nodes)
}

// connection returns a connection to the node. Most streams share the first one.
func (w *watcher) connection(n *node) *client.Client {
	switch {
	case w.shape.slow:
		return n.slow
	case w.rand.IntN(6) == 0:
		return n.shared.Lane(1 + w.rand.IntN(sharedLanes-1))
	default:
		return n.shared.Lane(0)
	}
}

// stream opens one stream and records the events that it delivers.
func (w *watcher) stream(ctx context.Context, n *node) error {
	seconds := 0
	if w.shape.habit == timed {
		seconds = 1 + w.rand.IntN(maxSeconds)
	}
	if w.shape.habit != steady && w.shape.habit != timed {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, shortStay+time.Duration(w.rand.Int64N(int64(longStay-shortStay))))
		defer cancel()
	}
	connections := w.connection(n)
	s := &watchmodel.Stream{Node: n.Name, After: w.position()}
	s.Initial = w.shape.habit == listing && s.After == 0
	request := client.Request{Path: w.shape.path(s.After, s.Initial, seconds), Accept: w.shape.accept, User: w.shape.user}
	begun := false
	err := connections.Stream(ctx, request, func(connection int) {
		begun = true
		s.Connection, s.Opened = connection, w.Now()
	}, func(e client.Notice) { w.take(ctx, s, e) })
	s.Closed, s.Expired = w.Now(), errors.Is(err, client.ErrExpired)
	if begun || s.Expired {
		w.mu.Lock()
		w.now.Streams = append(w.now.Streams, *s)
		w.mu.Unlock()
	}
	return err
}

// take records one event. Its version becomes the position even if it is lower than the last: the
// model must see what a client would experience. Initial events do not change the position.
func (w *watcher) take(ctx context.Context, s *watchmodel.Stream, n client.Notice) {
	e := watchmodel.Event{Type: n.Type, Form: n.Object.APIVersion + " " + n.Object.Kind, Arrived: w.Now(), Initial: n.Object.EndsInitialEvents()}
	o := watchmodel.Object{Version: n.Object.Version}
	switch {
	case n.Type == watchmodel.Bookmark:
	case w.shape.view == watchmodel.Row:
		o.Name = n.Object.Name
	default:
		o = objectOf(&n.Object)
	}
	e.Object = unique.Make(o)
	w.mu.Lock()
	s.Events = append(s.Events, e)
	if w.now.Position != 0 || e.Initial {
		w.now.Position = o.Version
	}
	w.mu.Unlock()
	if w.shape.slow && !w.settling.Load() && w.rand.IntN(4) == 0 {
		wait(ctx, time.Duration(w.rand.Int64N(int64(longestPause))))
	}
}

func (w *watcher) position() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now.Position
}

// chains returns the chains of the watch, which must have ended.
func (w *watcher) chains() []watchmodel.Chain {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now.Complete = true
	if w.now.Path == "" { // it ended before it began
		return w.ended
	}
	return append(w.ended, w.now)
}
