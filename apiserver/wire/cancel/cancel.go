// Package cancel has a context that is a value of its owner.
package cancel

import (
	"context"
	"sync"
	"time"
)

// Context is a context.Context that ends when its owner calls Cancel. It has the values and the
// deadline of its parent, but does not end with it.
//
// It takes no memory beside its own until somebody waits for its end. A context of package context
// also has an entry in a map of its parent and, if it has a child, a map and a channel: together
// half a KiB for each of many requests that stay open.
//
// Init must be called first, and a Context must not be copied afterwards. All methods are safe for
// concurrent use.
type Context struct {
	parent context.Context

	mu    sync.Mutex
	cause error         // nil while the context has not ended
	done  chan struct{} // nil until Done is called
	waits *Wait         // the first of those that have begun
}

// Init sets the parent.
func (c *Context) Init(parent context.Context) { c.parent = parent }

// Cancel ends the context for a reason, which is context.Canceled if it is nil. Calls after the
// first do nothing.
func (c *Context) Cancel(cause error) {
	if cause == nil {
		cause = context.Canceled
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return
	}
	c.cause = cause
	if c.done != nil {
		close(c.done)
	}
	for c.waits != nil {
		w := c.waits
		c.remove(w)
		go w.target.ContextEnded(c)
	}
}

// Cause returns the reason for which the context has ended, or nil if it has not.
func (c *Context) Cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// AfterFunc calls f on a goroutine of its own when the context has ended, unless the function that
// it returns is called before; that returns whether it has prevented the call. Package context uses
// this method, too, for contexts that are derived from c.
func (c *Context) AfterFunc(f func()) (stop func() bool) {
	w := new(Wait)
	w.Begin(c, function(f))
	return w.Stop
}

// function is a function as a Target.
type function func()

func (f function) ContextEnded(context.Context) { f() }

// Done implements context.Context.
func (c *Context) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.cause != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err implements context.Context. As with package context, it is context.Canceled whatever the
// cause.
func (c *Context) Err() error {
	if c.Cause() != nil {
		return context.Canceled
	}
	return nil
}

// Deadline implements context.Context.
func (c *Context) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Value implements context.Context.
func (c *Context) Value(key any) any { return c.parent.Value(key) }
