package simulation

import (
	"context"
	"errors"
	"time"

	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// watcher watches a collection, on one node after another, and resumes from its position.
type watcher struct {
	w       *World
	prefix  state.Prefix
	on      *process
	cursor  *history.Cursor
	seen    uint64 // it has had every event up to there
	napping time.Duration
}

func (w *World) newWatcher() *watcher {
	prefixes := []state.Prefix{
		state.ResourcePrefix("pods"), state.ResourcePrefix("namespaces"), state.NamespacePrefix("pods", "ns1"),
		state.NamespacePrefix("apps/deployments", "ns0"),
	}
	return &watcher{w: w, prefix: pick(w, prefixes), napping: w.between(50*time.Millisecond, 3*time.Second)}
}

func (o *watcher) wakeSoon() {
	o.w.at(o.w.between(0, o.napping), func() {
		o.wakeSoon()
		o.wake()
	})
}

// wake makes the watcher receive the events that its node has, sometimes after it has moved to
// another node.
func (o *watcher) wake() {
	if o.on == nil || o.on.ended || o.w.chance(0.03) {
		all := o.w.running()
		if len(all) == 0 {
			return
		}
		o.resume(pick(o.w, all), o.seen)
	}
	if o.w.now().Before(o.on.pausedUntil) {
		return
	}
	for o.take() && o.w.err == nil && !o.w.chance(0.1) {
	}
}

func (o *watcher) resume(p *process, after uint64) {
	o.w.counts.Resumed++
	o.on = p
	position := after
	if o.w.breaks(ResumeLate) {
		position++
	}
	o.cursor = p.hub.Watch(o.prefix, position)
}

// take receives the next events, and reports whether there were any.
func (o *watcher) take() bool {
	events, err := o.cursor.Next(&atOnce{Context: context.Background()})
	var compacted *history.Compacted
	switch {
	case errors.As(err, &compacted):
		o.expired(compacted)
		return false
	case errors.Is(err, context.Canceled):
		o.checkPosition()
		return false
	case err != nil:
		o.w.violate("a watch from %d on %s ends: %v", o.seen, o.on.node.name, err)
		return false
	}
	for _, e := range events {
		o.check(e)
	}
	return true
}

// check compares an event with the next one of the truth.
func (o *watcher) check(e *history.Event) {
	o.w.counts.Delivered++
	if e.Type != history.Added && e.Object.Created == 0 {
		o.w.counts.FromLog++
	}
	want := o.w.truth.after(o.seen, o.prefix)
	switch {
	case want == nil:
		o.w.violate("a watch on %s gets event %d, which nothing made", o.on.node.name, e.Index)
		return
	case e.Index != want.index:
		o.w.violate("a watch on %s that has had %d gets event %d, not %d", o.on.node.name, o.seen, e.Index, want.index)
		return
	}
	have := happened{index: e.Index, kind: e.Type, key: e.Object.Key, thing: thingOf(e.Object), before: string(e.Left())}
	if have.created == 0 && have.kind != history.Added {
		have.created = want.created // what the log does not tell
	}
	if have != *want {
		o.w.violate("a watch on %s gets %+v, not %+v", o.on.node.name, have, *want)
	}
	o.seen = e.Index
}

// checkPosition checks that a watch which has received everything has missed no event up to its
// position. The watcher may resume from that position.
func (o *watcher) checkPosition() {
	position := o.cursor.Position()
	if next := o.w.truth.after(o.seen, o.prefix); next != nil && next.index <= position {
		o.w.violate("a watch on %s is at %d, and has not had event %d", o.on.node.name, position, next.index)
	}
	if o.w.chance(0.5) {
		o.seen = max(o.seen, position)
	}
}

// expired checks that a watch is refused only for a position before the node's history, and begins
// again with a list.
func (o *watcher) expired(c *history.Compacted) {
	p := o.on
	o.w.counts.Expired++
	p.trace("refuses a watch from %d: its history begins with %d", o.seen, c.Oldest)
	seen := o.seen
	if p.quiet <= seen && seen < p.origin {
		seen = p.origin // nothing happened between the two
	}
	if kept := max(p.base, p.origin); seen >= kept && len(p.entries) > 0 {
		o.w.violate("%s refuses a watch from %d, and has all since %d: %v", p.node.name, o.seen, kept, c)
	}
	if c.Oldest <= o.seen {
		o.w.violate("%s refuses a watch from %d, and offers %d", p.node.name, o.seen, c.Oldest)
	}
	again := p.hub.Watch(o.prefix, c.Oldest)
	if _, err := again.Next(&atOnce{Context: context.Background()}); err != nil && !errors.Is(err, context.Canceled) {
		o.w.violate("%s refuses a watch from %d, which it has just offered: %v", p.node.name, c.Oldest, err)
	}
	p = pick(o.w, o.w.running())
	root := p.applier.Root()
	o.w.truth.compare(p, root, o.w.truth.stateAt(root.Index()))
	o.seen = root.Index()
	o.resume(p, o.seen)
}

// atOnce is a context that ends as soon as its Done is called, so that a cursor returns the events
// that exist and does not wait.
type atOnce struct {
	context.Context
	waited bool
}

func (c *atOnce) Done() <-chan struct{} {
	c.waited = true
	ended := make(chan struct{})
	close(ended)
	return ended
}

func (c *atOnce) Err() error {
	if c.waited {
		return context.Canceled
	}
	return nil
}
