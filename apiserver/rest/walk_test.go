package rest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"quorate/apiserver/objects/selector"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore/state"
)

// TestWalkEndsWithItsContext: a walk ends soon after its context, also if its selector selects
// nothing.
func TestWalkEndsWithItsContext(t *testing.T) {
	t.Parallel()
	k := configMaps(t)
	objects := make([]*state.Object, 4*lookEvery)
	for i := range objects {
		objects[i] = configMap(t, k, fmt.Sprintf("o%05d", i), "u", 3)
	}
	root := holding(3, objects...)
	r := &resource{Handlers: &Handlers{}, kind: k}
	ctx, cancel := context.WithCancel(t.Context())
	visited := 0
	err := r.visit(ctx, root, "ns", nil, "", func(*state.Object) bool {
		if visited++; visited == lookEvery/2 {
			cancel()
		}
		return true
	})
	if !errors.Is(err, context.Canceled) || visited > lookEvery {
		t.Errorf("%d objects visited, error %v", visited, err)
	}
	nothing, err := selector.Parse("no=such", "", &r.selectable)
	if err != nil {
		t.Fatal(err)
	}
	for o, err := range r.whole(ctx, root, "ns", nothing).items {
		if o != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("the list has %v, %v", o, err)
		}
		return
	}
	t.Error("a list whose client has gone ends without an error")
}

// TestWalkYields: a long walk lets other goroutines run between its steps. The runtime interrupts a
// goroutine only after 10 ms, which is more than this walk takes.
func TestWalkYields(t *testing.T) { // not parallel: it sets GOMAXPROCS
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	k := configMaps(t)
	const size = stepBytes/4 - objectBytes
	objects := make([]*state.Object, 64)
	for i := range objects {
		objects[i] = &state.Object{Key: stored.Key(k, "ns", fmt.Sprintf("o%05d", i)), Value: make([]byte, size)}
	}
	r := &resource{Handlers: &Handlers{}, kind: k}
	root := holding(3, objects...)
	var ran atomic.Bool
	ended := make(chan struct{})
	visited, before := 0, 0
	err := r.visit(t.Context(), root, "ns", nil, "", func(*state.Object) bool {
		if visited++; visited == 1 {
			go func() { ran.Store(true); close(ended) }()
		}
		if !ran.Load() {
			before = visited
		}
		return true
	})
	if err != nil || visited != len(objects) {
		t.Fatalf("%d objects visited, error %v", visited, err)
	}
	if before > 8 {
		t.Errorf("another goroutine ran after %d objects of a quarter of a step each, want at most 8", before)
	}
	<-ended
}
