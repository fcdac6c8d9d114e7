package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"quorate/raftstore/state"
)

// logReadBytes bounds the events that one read of the log on disk returns, but for the last event.
const logReadBytes = 256 << 10

// readLog returns events from the log on disk and advances past them. It may return none and no
// error, also without having advanced.
func (c *Cursor) readLog(ctx context.Context) ([]*Event, error) {
	h := c.hub
	if !h.reaches(c.topic.view.Load(), c.position) {
		return nil, c.compacted()
	}
	read, err := c.logRead(ctx)
	if err != nil || read.upTo <= c.position {
		return nil, err
	}
	run := read.events[after(read.events, c.position):]
	c.position = read.upTo
	if c.whole {
		return run, nil
	}
	first := slices.IndexFunc(run, c.covers)
	if first < 0 {
		return nil, nil
	}
	return c.filter(run[first:]), nil
}

// logRead returns a read of the log that is done and includes the position: that of another cursor,
// or else one that it makes when it is the turn of the cursor's owner. Only running reads are
// waited for, not those that wait for a turn, because that turn may be of an owner with many
// others.
func (c *Cursor) logRead(ctx context.Context) (*logRead, error) {
	h, resource := c.hub, c.prefix.Resource()
	read := h.reads.find(resource, c.position)
	if read == nil {
		if err := h.takeTurn(ctx, c.owner); err != nil {
			return nil, err
		}
		var own bool
		if read, own = h.reads.begin(resource, c.position); own {
			return read, c.makeRead(ctx, read)
		}
		h.turns.end() // another cursor has read meanwhile, or reads now
	}
	h.metrics.logShared.Inc()
	return read, read.await(ctx, h.closed)
}

// makeRead reads the events of all of the cursor's resource after its position from the log on
// disk, for all who wait for the read, and ends the turn. The read fails if there is an error, if
// the log panics, or if the events are in memory meanwhile.
func (c *Cursor) makeRead(ctx context.Context, read *logRead) error {
	h := c.hub
	var events []*Event
	upTo := c.position
	defer func() { // in this order, so that whose turn is next finds the read done
		h.reads.finish(read, events, upTo)
		h.turns.end()
	}()
	v := c.topic.view.Load()
	if c.position >= v.floor {
		return nil
	}
	if !h.reaches(v, c.position) {
		return c.compacted()
	}
	h.metrics.logReads.Inc()
	found, next, err := h.log.Events(ctx, state.ResourcePrefix(read.resource), c.position, v.floor, logReadBytes)
	if err != nil {
		if _, ok := errors.AsType[*Compacted](err); ok {
			h.metrics.compacted.Inc()
		}
		return fmt.Errorf("read events of %s after %d from the log: %w", read.resource, c.position, err)
	}
	if next <= c.position || next > v.floor {
		return fmt.Errorf("read events of %s after %d up to %d, got to %d: %w",
			read.resource, c.position, v.floor, next, errStalledLog)
	}
	h.metrics.logEvents.Add(float64(len(found)))
	events, upTo = found, next
	return nil
}

func (c *Cursor) compacted() error {
	c.hub.metrics.compacted.Inc()
	v := c.topic.view.Load()
	oldest := v.floor
	if c.hub.log != nil {
		oldest = min(oldest, max(v.origin, c.hub.log.Oldest()))
	}
	return &Compacted{Want: c.position, Oldest: oldest}
}

// reaches reports whether history is complete from a position below memory.
func (h *Hub) reaches(v *view, position uint64) bool {
	return h.log != nil && position >= v.origin && position >= h.log.Oldest()
}

// takeTurn waits for a turn of the owner to read the log.
func (h *Hub) takeTurn(ctx context.Context, owner string) error {
	wait := h.turns.begin(owner)
	if wait == nil {
		h.metrics.logWait.Observe(0)
		return nil
	}
	h.metrics.logQueue.Inc()
	defer h.metrics.logQueue.Dec()
	begin := time.Now()
	select {
	case <-wait.turn:
		h.metrics.logWait.Observe(time.Since(begin).Seconds())
		return nil
	case <-ctx.Done():
		h.turns.leave(wait)
		return ctx.Err()
	case <-h.closed:
		h.turns.leave(wait)
		return ErrClosed
	}
}
