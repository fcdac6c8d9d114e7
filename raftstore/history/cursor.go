package history

import (
	"cmp"
	"context"
	"slices"

	"quorate/raftstore/state"
)

// Cursor is a position in the history of a collection. It holds no events and no goroutine, and
// need not be closed. It must not be used concurrently.
type Cursor struct {
	hub      *Hub
	topic    *topic
	prefix   state.Prefix
	whole    bool // the prefix covers all of the topic
	bit      int  // of the prefix's namespace, in chunks
	position uint64
	owner    string // who takes turns with others at reads of the log
}

// Next waits for events of the collection after the position, advances the position past them, and
// returns at least one, in order. The events and the slice are shared. Callers must not write to
// them, and should drop the slice after use, because it keeps its whole chunk in memory.
//
// Next returns ctx's error if ctx ends first, after which the cursor can still be used, *Compacted
// if events after the position are gone, and ErrClosed if the hub is closed.
func (c *Cursor) Next(ctx context.Context) ([]*Event, error) { return c.next(ctx, true) }

// Ready is Next without the wait for future events: it returns no events and no error if there are
// none.
func (c *Cursor) Ready(ctx context.Context) ([]*Event, error) { return c.next(ctx, false) }

func (c *Cursor) next(ctx context.Context, wait bool) ([]*Event, error) {
	var woken <-chan struct{}
	for {
		if err := c.hub.ended(ctx); err != nil {
			return nil, err
		}
		before := c.topic
		events, behind := c.read()
		if c.topic != before {
			woken = nil // of the retired topic, which no longer wakes its waiters
		}
		if behind {
			var err error
			if events, err = c.readLog(ctx); err != nil {
				return nil, err
			}
			if len(events) > 0 {
				return events, nil
			}
			continue
		}
		if len(events) > 0 || !wait {
			return events, nil
		}
		if woken == nil {
			woken = c.topic.wait()
			continue
		}
		c.hub.sleep(ctx, woken)
		woken = nil
	}
}

// Position returns the index up to which Next has returned all events of the collection. It also
// advances past applied entries without events.
func (c *Cursor) Position() uint64 {
	c.seek()
	return c.position
}

// read returns events in memory and advances past them. behind reports whether the position is
// before the events in memory.
func (c *Cursor) read() (events []*Event, behind bool) {
	run, behind := c.seek()
	if len(run) == 0 {
		return nil, behind
	}
	c.position = run[len(run)-1].Index
	if c.whole {
		return run, false
	}
	return c.filter(run), false
}

// seek advances past events that the prefix does not cover, and returns the rest of the chunk from
// the first event that it covers.
func (c *Cursor) seek() (run []*Event, behind bool) {
	for {
		applied := c.hub.applied.Load() // first, so that the view has all events up to it
		v := c.topic.view.Load()
		if v.retired {
			if c.position >= v.floor {
				c.position = max(c.position, v.last)
			}
			c.topic = c.hub.topic(c.prefix.Resource())
			continue
		}
		if c.position < v.floor {
			if q := c.hub.quiet.Load(); q.changed <= c.position && c.position < q.index {
				c.position = q.index // where the log may begin, while memory begins later
				continue
			}
			return nil, true
		}
		run, ok := c.seekIn(v)
		if !ok {
			continue // the chunk has been evicted: load the newer view
		}
		if len(run) == 0 {
			c.position = max(c.position, applied)
		}
		return run, false
	}
}

func (c *Cursor) seekIn(v *view) (run []*Event, ok bool) {
	for _, chunk := range v.chunks[v.search(c.position):] {
		events, ok := chunk.events()
		if !ok {
			return nil, false
		}
		if n := len(events); n > 0 && !c.whole && !chunk.mayHave(c.bit) {
			c.position = max(c.position, events[n-1].Index)
			continue
		}
		events = events[after(events, c.position):]
		for i, e := range events {
			if c.covers(e) {
				return events[i:], true
			}
			c.position = e.Index
		}
	}
	return nil, true
}

func (c *Cursor) covers(e *Event) bool { return c.whole || c.prefix.Covers(e.Object.Key) }

// after returns the number of events that are not after the position.
func after(events []*Event, position uint64) int {
	n, found := slices.BinarySearchFunc(events, position, func(e *Event, position uint64) int {
		return cmp.Compare(e.Index, position)
	})
	if found {
		n++
	}
	return n
}

// filter returns the events of a run that the prefix covers. The first one must be covered. The
// result is a part of the run if they are contiguous, and a copy otherwise.
func (c *Cursor) filter(run []*Event) []*Event {
	end := 1
	for end < len(run) && c.covers(run[end]) {
		end++
	}
	n := end
	for _, e := range run[end:] {
		if c.covers(e) {
			n++
		}
	}
	if n == end {
		return run[:end:end]
	}
	covered := append(make([]*Event, 0, n), run[:end]...)
	for _, e := range run[end:] {
		if c.covers(e) {
			covered = append(covered, e)
		}
	}
	return covered
}

// ended returns an error if a cursor must stop, because the hub is closed or ctx has ended.
func (h *Hub) ended(ctx context.Context) error {
	select {
	case <-h.closed:
		return ErrClosed
	default:
		return ctx.Err()
	}
}

// sleep returns when woken is closed, which Close also does, or when ctx ends. It waits for as few
// channels as possible, because each one costs time in every watcher that an event wakes.
func (h *Hub) sleep(ctx context.Context, woken <-chan struct{}) {
	h.sleeping.Add(1)
	defer h.sleeping.Add(-1)
	select {
	case <-woken:
	case <-ctx.Done():
	}
}
