package history

import "context"

// Poll is Ready from memory alone, which waits for nothing, the disk neither. Reached is false where memory begins after the position, or
// the hub is closed: Next knows more.
func (c *Cursor) Poll() (events []*Event, reached bool) {
	select {
	case <-c.hub.closed:
		return nil, false
	default:
	}
	events, behind := c.read()
	return events, !behind
}

// Changed returns a channel that closes when the resource has an event after those that a Poll made before could return, and when the
// hub closes. Poll once more after calling it, and before waiting: other cursors on the resource may be polled then, too.
func (c *Cursor) Changed() <-chan struct{} {
	for {
		changed := c.topic.wait()
		if !c.topic.view.Load().retired {
			return changed
		}
		c.seek() // nobody wakes who waits for that one
	}
}

// Await returns when a channel of Changed closes, or ctx ends.
func (c *Cursor) Await(ctx context.Context, changed <-chan struct{}) { c.hub.sleep(ctx, changed) }

// Resource names what the cursor follows, in all namespaces.
func (c *Cursor) Resource() string { return c.prefix.Resource() }
