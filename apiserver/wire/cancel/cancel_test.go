package cancel_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/wire/cancel"
)

type key struct{}

func newContext(parent context.Context) *cancel.Context {
	c := new(cancel.Context)
	c.Init(parent)
	return c
}

func TestEndsOnceWithItsCause(t *testing.T) {
	c := newContext(context.WithValue(t.Context(), key{}, "value"))
	if c.Err() != nil || c.Cause() != nil || c.Value(key{}) != "value" {
		t.Fatalf("err %v, cause %v, value %v before the end", c.Err(), c.Cause(), c.Value(key{}))
	}
	done := c.Done()
	select {
	case <-done:
		t.Fatal("done before the end")
	default:
	}
	why := errors.New("why")
	c.Cancel(why)
	c.Cancel(errors.New("later"))
	<-done
	<-c.Done()
	if c.Err() != context.Canceled || c.Cause() != why { //nolint:errorlint // the values themselves
		t.Errorf("err %v, cause %v", c.Err(), c.Cause())
	}
	without := newContext(t.Context())
	without.Cancel(nil)
	<-without.Done()
	if without.Cause() != context.Canceled { //nolint:errorlint // the value itself
		t.Errorf("cause %v without a reason", without.Cause())
	}
}

func TestCallsFunctionsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newContext(t.Context())
		var called [6]bool
		var stops [6]func() bool
		for i := range called {
			stops[i] = c.AfterFunc(func() { called[i] = true })
		}
		for _, i := range []int{3, 1, 5, 0} { // in the middle, beside it, the last and the first
			if !stops[i]() || stops[i]() {
				t.Errorf("function %d was removed twice, or not at all", i)
			}
		}
		synctest.Wait()
		if called != [6]bool{} {
			t.Errorf("called before the end: %v", called)
		}
		c.Cancel(nil)
		synctest.Wait()
		if called != [6]bool{2: true, 4: true} {
			t.Errorf("called: %v", called)
		}
		late := false
		stop := c.AfterFunc(func() { late = true })
		synctest.Wait()
		if !late || stop() || stops[0]() {
			t.Error("a function was not called after the end, or could be stopped after it was called")
		}
	})
}

// TestDerivedContexts derives contexts of package context, which find the method AfterFunc.
func TestDerivedContexts(t *testing.T) {
	parent, end := context.WithCancelCause(t.Context())
	end(errors.New("of the parent")) // which is no business of the context's
	c := newContext(parent)
	child, stop := context.WithTimeout(c, time.Hour)
	defer stop()
	called := make(chan struct{})
	context.AfterFunc(child, func() { close(called) })
	if child.Err() != nil {
		t.Fatalf("the child has ended with %v", child.Err())
	}
	c.Cancel(nil)
	<-child.Done()
	<-called
	if child.Err() != context.Canceled { //nolint:errorlint // the value itself
		t.Errorf("the child ended with %v", child.Err())
	}
}

// TestForgetsStoppedChildren derives many contexts that end before their parent does.
func TestForgetsStoppedChildren(t *testing.T) {
	c := newContext(t.Context())
	const children, bytesEach = 10_000, 16
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range children {
		_, stop := context.WithCancel(c)
		stop()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > children*bytesEach {
		t.Errorf("%d children that have ended take %d bytes", children, grown)
	}
	runtime.KeepAlive(c)
}

func TestDeadlineIsTheParents(t *testing.T) {
	parent, stop := context.WithTimeout(t.Context(), time.Hour)
	defer stop()
	want, _ := parent.Deadline()
	if got, ok := newContext(parent).Deadline(); !ok || !got.Equal(want) {
		t.Errorf("deadline %v, %v", got, ok)
	}
}
