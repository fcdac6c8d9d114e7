package history

import "context"

// Poll is Ready limited to memory; it never blocks. reached is false if memory begins after the
// position or the hub is closed; Next then returns the events or the error.
func (c *Cursor) Poll() (events []*Event, reached bool) {
	select {
	case <-c.hub.closed:
		return nil, false
	default:
	}
	events, behind := c.read()
	return events, !behind
}

// Changed returns a channel that is closed when the resource has another event, or when the hub
// closes. Callers must poll once more after calling Changed and before waiting, or they could miss
// an event. All cursors on the resource share one channel.
func (c *Cursor) Changed() <-chan struct{} {
	for {
		changed := c.topic.wait()
		if !c.topic.view.Load().retired {
			return changed
		}
		c.seek() // moves on from a retired topic, which no longer wakes its waiters
	}
}

// Await returns when changed is closed, or ctx ends.
func (c *Cursor) Await(ctx context.Context, changed <-chan struct{}) { c.hub.sleep(ctx, changed) }

// Resource returns the resource of the cursor's collection.
func (c *Cursor) Resource() string { return c.prefix.Resource() }
