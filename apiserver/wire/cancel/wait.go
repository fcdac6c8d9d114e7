package cancel

import "context"

// Target is told of the end of a context.
type Target interface {
	// ContextEnded is called once, on a goroutine of its own.
	ContextEnded(ctx context.Context)
}

// Wait tells a target of the end of a context, unless it is stopped before: context.AfterFunc as a
// value of its owner, which takes no memory beside its own if the context is a Context. The zero
// value waits for nothing.
//
// A Wait must not be copied after Begin.
type Wait struct {
	target Target
	on     *Context    // nil unless it is a Context that is waited for
	stop   func() bool // for any other context

	// on.mu guards the fields below.

	begun          bool // and neither stopped nor ended
	previous, next *Wait
}

// Begin begins to wait for the end of ctx. It must be called at most once.
func (w *Wait) Begin(ctx context.Context, t Target) {
	c, ok := ctx.(*Context)
	if !ok {
		w.stop = context.AfterFunc(ctx, func() { t.ContextEnded(ctx) })
		return
	}
	w.target, w.on = t, c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		go t.ContextEnded(c)
		return
	}
	c.add(w)
}

// Stop ends the wait. It reports whether it has prevented that the target is told: false if the
// target has been told, or if nothing was waited for.
func (w *Wait) Stop() bool {
	if w.stop != nil {
		return w.stop()
	}
	c := w.on
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !w.begun {
		return false
	}
	c.remove(w)
	return true
}

// add makes a wait the first. mu is held.
func (c *Context) add(w *Wait) {
	w.begun, w.next = true, c.waits
	if w.next != nil {
		w.next.previous = w
	}
	c.waits = w
}

// remove removes a wait that has begun. mu is held.
func (c *Context) remove(w *Wait) {
	if w.previous != nil {
		w.previous.next = w.next
	} else {
		c.waits = w.next
	}
	if w.next != nil {
		w.next.previous = w.previous
	}
	w.begun, w.previous, w.next = false, nil, nil
}
