package history

import "context"

// Poll is Ready from memory alone: it never waits, not even for the disk. Reached is false if
// memory begins after the position or the hub is closed; Next then returns the events or the error.
func (c *Cursor) Poll() (events []*Event, reached bool) {
	select {
	case <-c.hub.closed:
		return nil, false
	default:
	}
	events, behind := c.read()
	return events, !behind
}

// Changed returns a channel that closes when the resource has a further event, or when the hub
// closes. Callers poll once more after calling it and before waiting. One channel serves all
// cursors on the resource.
func (c *Cursor) Changed() <-chan struct{} {
	for {
		changed := c.topic.wait()
		if !c.topic.view.Load().retired {
			return changed
		}
		c.seek() // past a retired topic, whose waiters nobody wakes
	}
}

// Await returns when a channel of Changed closes, or ctx ends.
func (c *Cursor) Await(ctx context.Context, changed <-chan struct{}) { c.hub.sleep(ctx, changed) }

// Resource returns the resource of the cursor's collection.
func (c *Cursor) Resource() string { return c.prefix.Resource() }
