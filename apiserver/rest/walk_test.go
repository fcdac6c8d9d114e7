package rest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"quorate/apiserver/objects/selector"
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
