package watch

import (
	"context"
	"net/http"
	"sync"

	"quorate/raftstore/history"
)

// lender is an answer that takes bytes without a wait for its client (apiserver/wire/h2).
type lender interface {
	// Lend queues bytes that never change; it reports whether they were taken.
	Lend(p []byte) bool
	// Lent reports whether some of them wait for the client.
	Lent() bool
	// Connection identifies the connection of the answer.
	Connection() any
}

// lenderOf returns the answer that a writer is, or wraps, when that is one that lends.
func lenderOf(w http.ResponseWriter) lender {
	for {
		if l, ok := w.(lender); ok {
			return l
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = u.Unwrap()
	}
}

// meter is a writer that counts what is sent through it, and is told of what was lent.
type meter interface{ Count(bytes int64) }

// carriage are the streams of one connection that follow one resource. One of those with nothing to send, the carrier, waits for changes
// and lends them to the connection for all others, the riders, whose handlers sleep on. To wake each of thousands of handlers, and have it
// go to sleep again, would cost several times what its event does.
type carriage struct {
	seats int // streams that may ride; guarded by carriages.mu

	mu      sync.Mutex
	carried bool // there is a carrier
	riders  []*rider
	made    batches // of the pass under way
}

// rider is a stream's seat. While it rides, its stream, cursor and answer are the carrier's, under carriage.mu.
type rider struct {
	carriage *carriage
	stream   *Stream
	changes  *history.Cursor
	place    int // in carriage.riders, -1 when not there

	left []*history.Event // its own to send
	turn chan bool        // says that it was taken out, after left was set: true, to be the carrier
}

// next returns changes for the stream's handler to send, as Cursor.Next does; what a carrier has sent is not among them.
func (st *Stream) next(ctx context.Context, changes *history.Cursor) ([]*history.Event, error) {
	if st.seat == nil {
		return changes.Next(ctx)
	}
	for {
		events, err := changes.Ready(ctx)
		if err != nil || len(events) > 0 {
			return events, err
		}
		events, err = st.seat.ride(ctx)
		if err != nil || len(events) > 0 {
			return events, err
		}
	}
}

// ride returns when there is something for the handler to do: events that could not be lent, or a look at history; or with ctx's error.
func (r *rider) ride(ctx context.Context) ([]*history.Event, error) {
	r.stream.streams.metrics.riding.Inc()
	defer r.stream.streams.metrics.riding.Dec()
	c := r.carriage
	c.mu.Lock()
	events, reached := r.changes.Poll() // what came before it was among the riders
	if len(events) > 0 || !reached {
		c.mu.Unlock()
		return events, nil
	}
	carries := !c.carried
	if carries {
		c.carried = true
	} else {
		c.board(r)
	}
	c.mu.Unlock()
	if !carries {
		var err error
		if carries, err = r.sleep(ctx); err != nil {
			return nil, err
		}
	}
	if carries {
		return c.carry(ctx, r)
	}
	return r.take(), nil
}

// take returns what was left to the handler.
func (r *rider) take() []*history.Event {
	left := r.left
	r.left = nil
	return left
}

// sleep waits for the rider's turn: to be the carrier, or to send what was left to it. An error says that it will not come.
func (r *rider) sleep(ctx context.Context) (carries bool, err error) {
	select {
	case carries = <-r.turn:
		return carries, nil
	case <-ctx.Done():
	}
	c := r.carriage
	c.mu.Lock()
	aboard := r.place >= 0
	if aboard {
		c.alight(r)
	}
	c.mu.Unlock()
	if aboard {
		return false, ctx.Err()
	}
	return <-r.turn, nil
}

// carry serves all streams of the carriage until ctx ends, or the carrier's own stream needs its handler. Then another one carries.
func (c *carriage) carry(ctx context.Context, r *rider) ([]*history.Event, error) {
	defer c.appoint()
	for ctx.Err() == nil {
		changed := r.changes.Changed()
		if !c.serve(r) {
			return r.take(), nil
		}
		r.changes.Await(ctx, changed)
	}
	return nil, ctx.Err()
}

// serve lends what has come to all streams. It returns false when the carrier's handler is needed.
func (c *carriage) serve(carrier *rider) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := 0; i < len(c.riders); {
		r := c.riders[i]
		if c.advance(r) {
			i++
			continue
		}
		c.alight(r) // which puts another one in its place
		r.turn <- false
	}
	ok := c.advance(carrier)
	c.made = batches{} // they would keep the events in memory
	return ok
}

// advance lends a stream what has come for it; false means that its handler is to see to the rest. mu is held.
func (c *carriage) advance(r *rider) bool {
	for {
		events, reached := r.changes.Poll()
		if len(events) == 0 {
			return reached
		}
		if !r.stream.lend(events, &c.made) {
			r.left = events
			return false
		}
	}
}

// appoint has another stream carry, if there is one.
func (c *carriage) appoint() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.riders) == 0 {
		c.carried = false
		return
	}
	r := c.riders[len(c.riders)-1]
	c.alight(r)
	r.turn <- true
}

// board puts a rider in. mu is held.
func (c *carriage) board(r *rider) {
	r.place = len(c.riders)
	c.riders = append(c.riders, r)
}

// alight takes a rider out. mu is held.
func (c *carriage) alight(r *rider) {
	last := len(c.riders) - 1
	moved := c.riders[last]
	c.riders[r.place], moved.place = moved, r.place
	c.riders[last] = nil
	c.riders = c.riders[:last]
	r.place = -1
}

// carriages are those in use.
type carriages struct {
	mu   sync.Mutex
	open map[route]*carriage
}

// route is what the streams of a carriage have in common.
type route struct {
	connection any
	resource   string
}

// seat gives a stream its place, nil when its answer can't lend. Leave gives it back.
func (all *carriages) seat(st *Stream, changes *history.Cursor) (r *rider, leave func()) {
	if st.lender == nil {
		return nil, func() {}
	}
	key := route{st.lender.Connection(), changes.Resource()}
	all.mu.Lock()
	defer all.mu.Unlock()
	c := all.open[key]
	if c == nil {
		c = new(carriage)
		all.open[key] = c
	}
	c.seats++
	return &rider{carriage: c, stream: st, changes: changes, place: -1, turn: make(chan bool, 1)}, func() {
		all.mu.Lock()
		defer all.mu.Unlock()
		if c.seats--; c.seats == 0 {
			delete(all.open, key)
		}
	}
}
