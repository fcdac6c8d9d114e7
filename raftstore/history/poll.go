package history

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

// Skip advances the position to index, unless it is beyond. The caller knows that the collection
// has no events up to index that it still needs.
func (c *Cursor) Skip(index uint64) { c.position = max(c.position, index) }

// Resource returns the resource of the cursor's collection.
func (c *Cursor) Resource() string { return c.prefix.Resource() }

// Namespace returns the namespace of the cursor's collection, or "" if it is not one namespace.
func (c *Cursor) Namespace() string { return c.prefix.Namespace() }

// Listen returns a listener for the resource of the cursor's collection: see Hub.Listen.
func (c *Cursor) Listen() (*Listener, *Cursor) { return c.hub.Listen(c.Resource()) }
