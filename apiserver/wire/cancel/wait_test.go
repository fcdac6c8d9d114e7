package cancel_test

import (
	"context"
	"testing"
	"testing/synctest"

	"quorate/apiserver/wire/cancel"
)

// ends counts the calls for the end of one context.
type ends struct {
	of    context.Context
	calls int
}

// ContextEnded implements cancel.Target.
func (e *ends) ContextEnded(ctx context.Context) {
	if ctx == e.of && ctx.Err() != nil {
		e.calls++
	}
}

// TestWaits begins to wait before and after the end of contexts of both kinds, and stops waits
// before and after it.
func TestWaits(t *testing.T) {
	kinds := map[string]func(parent context.Context) (context.Context, func()){
		"Context": func(parent context.Context) (context.Context, func()) {
			c := newContext(parent)
			return c, func() { c.Cancel(nil) }
		},
		"package context": func(parent context.Context) (context.Context, func()) {
			return context.WithCancel(parent)
		},
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := kind(t.Context())
				var before, stopped, after cancel.Wait
				begin := func(w *cancel.Wait) *ends {
					e := &ends{of: ctx}
					w.Begin(ctx, e)
					return e
				}
				first, second := begin(&before), begin(&stopped)
				if !stopped.Stop() || stopped.Stop() {
					t.Error("a wait was stopped twice, or not at all")
				}
				synctest.Wait()
				if first.calls != 0 {
					t.Error("called before the end")
				}
				end()
				third := begin(&after)
				synctest.Wait()
				if first.calls != 1 || second.calls != 0 || third.calls != 1 {
					t.Errorf("called %d times, %d after Stop, %d if it began after the end", first.calls, second.calls, third.calls)
				}
				if before.Stop() || after.Stop() {
					t.Error("stopped after the end")
				}
			})
		})
	}
	if new(cancel.Wait).Stop() {
		t.Error("a wait that has not begun was stopped")
	}
}

// TestWaitAllocatesNothing: waits are many, and part of what they serve.
func TestWaitAllocatesNothing(t *testing.T) {
	c, e := newContext(t.Context()), &ends{}
	if n := testing.AllocsPerRun(100, func() {
		var w cancel.Wait
		w.Begin(c, e)
		w.Stop()
	}); n > 1 { // w itself
		t.Errorf("%v allocations", n)
	}
}
