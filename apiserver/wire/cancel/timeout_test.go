package cancel_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/wire/cancel"
)

func newTimeout(parent context.Context, after time.Duration) *cancel.Timeout {
	t := new(cancel.Timeout)
	t.Init(parent, time.Now().Add(after))
	return t
}

// TestTimeoutIsLikeThatOfPackageContext ends contexts of both packages in each way, and waits for
// the end in each way that there is: by Done, by a function, by a child, or only by asking.
func TestTimeoutIsLikeThatOfPackageContext(t *testing.T) {
	const after = time.Second
	parents := map[string]func(context.Context) (context.Context, func()){
		"of this package": func(ctx context.Context) (context.Context, func()) {
			c := newContext(ctx)
			return c, func() { c.Cancel(errors.New("why")) }
		},
		"of package context": func(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) },
		"with an earlier deadline": func(ctx context.Context) (context.Context, func()) {
			return context.WithTimeout(ctx, after/2)
		},
		"with a later deadline": func(ctx context.Context) (context.Context, func()) {
			return context.WithTimeout(ctx, 2*after)
		},
	}
	ends := map[string]func(stop, endParent func()){
		"time":          func(func(), func()) { time.Sleep(after) },
		"half the time": func(func(), func()) { time.Sleep(after / 2) },
		"no time":       func(func(), func()) {},
		"stop":          func(stop, _ func()) { stop() },
		"parent":        func(_, endParent func()) { endParent() },
		"stop, parent":  func(stop, endParent func()) { stop(); endParent() },
		"parent, stop":  func(stop, endParent func()) { endParent(); synctest.Wait(); stop() },
		"time, stop":    func(stop, _ func()) { time.Sleep(after); synctest.Wait(); stop() },
	}
	for parent, newParent := range parents {
		for end, act := range ends {
			for _, waits := range []string{"", "done", "function", "child"} {
				t.Run(parent+"/"+end+"/"+waits, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						p, endParent := newParent(t.Context())
						defer endParent()
						want, stopWant := context.WithTimeout(p, after)
						defer stopWant()
						got := newTimeout(p, after)
						defer got.Stop()
						seen := observe(waits, got)
						expected := observe(waits, want)
						act(func() { got.Stop(); stopWant() }, endParent)
						synctest.Wait()
						if seen() != expected() {
							t.Errorf("the end was seen: %v, want %v", seen(), expected())
						}
						if got.Err() != want.Err() { //nolint:errorlint // the values themselves
							t.Errorf("Err %v, want %v", got.Err(), want.Err())
						}
						if isDone(got) != isDone(want) {
							t.Errorf("done %v, want %v", isDone(got), isDone(want))
						}
						at, _ := got.Deadline()
						if wantAt, _ := want.Deadline(); !at.Equal(wantAt) {
							t.Errorf("deadline %s, want %s", at, wantAt)
						}
					})
				})
			}
		}
	}
}

// observe waits for the end of a context in one way, and returns a function that reports whether it
// was seen.
func observe(how string, ctx context.Context) (seen func() bool) {
	switch how {
	case "done":
		done := ctx.Done()
		return func() bool {
			select {
			case <-done:
				return true
			default:
				return false
			}
		}
	case "function":
		called := make(chan struct{})
		context.AfterFunc(ctx, func() { close(called) })
		return func() bool {
			select {
			case <-called:
				return true
			default:
				return false
			}
		}
	case "child":
		child, cancel := context.WithCancel(ctx)
		context.AfterFunc(child, cancel)
		return func() bool { return child.Err() != nil }
	default:
		return func() bool { return false }
	}
}

func isDone(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// TestTimeoutsEndConcurrently ends contexts in all ways at the same time, while others wait for them
// and ask them.
func TestTimeoutsEndConcurrently(t *testing.T) {
	for range 300 {
		parent := newContext(t.Context())
		c := newTimeout(parent, time.Millisecond)
		var all sync.WaitGroup
		for _, act := range []func(){
			c.Stop, c.Stop, func() { parent.Cancel(nil) }, func() { <-c.Done() }, func() { c.AfterFunc(func() {})() },
			func() {
				for c.Err() == nil {
					runtime.Gosched()
				}
			},
		} {
			all.Go(act)
		}
		all.Wait()
		if c.Err() == nil || !isDone(c) {
			t.Fatal("has not ended")
		}
	}
}

func TestTimeoutHasTheValuesOfItsParent(t *testing.T) {
	got := newTimeout(context.WithValue(t.Context(), key{}, "value"), time.Hour)
	defer got.Stop()
	if got.Value(key{}) != "value" {
		t.Errorf("value %v", got.Value(key{}))
	}
}

// TestTimeoutWithoutWaitersTakesNothing: neither before nor after its end does a context that
// nobody waits for allocate anything.
func TestTimeoutWithoutWaitersTakesNothing(t *testing.T) {
	parent := newContext(t.Context())
	timeouts := make([]cancel.Timeout, 200)
	deadline := time.Now().Add(time.Hour)
	if n := testing.AllocsPerRun(100, func() {
		c := &timeouts[0]
		timeouts = timeouts[1:]
		c.Init(parent, deadline)
		if c.Err() != nil || c.Value(key{}) != nil {
			t.Error("has ended")
		}
		c.Stop()
		if c.Err() == nil {
			t.Error("has not ended")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
