package cancel

import "context"

// Target handles the end of a context.
type Target interface {
	// ContextEnded handles the end of ctx. A Wait calls it once, on a goroutine of its own.
	ContextEnded(ctx context.Context)
}

// Wait calls a target at the end of a context, unless it is stopped before. It is context.AfterFunc
// as a value of its owner, and takes no other memory if the context is a Context. The zero value
// waits for nothing.
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

// Stop prevents the call of the target, and reports whether it did. It returns false if the context
// has ended, if the wait was stopped before, or if it never began.
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
