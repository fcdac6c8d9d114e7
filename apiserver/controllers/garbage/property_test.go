package garbage

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quorate/apiserver/objects/deletion"
	"quorate/raftstore/state"
)

// thing is an object of a random graph in the naive model.
type thing struct {
	key     state.Key
	owners  []int
	policy  deletion.Policy // with which a client deletes it; Unset: no client deletes it
	orphans bool            // it has the finalizer orphan from the beginning
}

// grow creates a random graph, including cycles, and deletes some of its objects as clients do.
func grow(t *rapid.T, w *world) []thing {
	things := make([]thing, rapid.IntRange(2, 10).Draw(t, "objects"))
	objects := make([]*state.Object, len(things))
	for i := range things {
		var finalizers []string
		if things[i].orphans = rapid.IntRange(0, 9).Draw(t, "orphans") == 9; things[i].orphans {
			finalizers = []string{deletion.OrphanFinalizer}
		}
		objects[i] = w.put("ConfigMap", "a", fmt.Sprint("o", i), finalizers)
		things[i].key = objects[i].Key
	}
	for i := range things {
		n := min(2, len(things)-1)
		for _, owner := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(things)-1), 0, n, rapid.ID[int]).Draw(t, "owners") {
			things[i].owners = append(things[i].owners, owner)
			objects[i] = w.own(objects[i], w.to(objects[owner], rapid.Bool().Draw(t, "blocks")))
		}
	}
	return things
}

func deleteSome(t *rapid.T, w *world, things []thing) {
	for i := range things {
		if rapid.IntRange(0, 2).Draw(t, "deleted") > 0 {
			continue
		}
		policies := []deletion.Policy{deletion.Background, deletion.Foreground, deletion.Orphan}
		things[i].policy = rapid.SampledFrom(policies).Draw(t, "policy")
		w.delete(things[i].key, things[i].policy)
	}
}

// survivors is the naive model. It returns the names of the objects that no client deletes and that
// have no owner, or an owner that survives, or only owners that orphan them. If all owners of an
// object go, and only some of them orphan it, the result depends on the order of events: the object
// survives if kept is true.
func survivors(things []thing, kept bool) map[string]bool {
	gone := make([]bool, len(things))
	orphaning := func(i int) bool {
		return things[i].policy == deletion.Orphan || things[i].policy == deletion.Unset && things[i].orphans
	}
	for i := range things {
		gone[i] = things[i].policy != deletion.Unset
	}
	for changed := true; changed; {
		changed = false
		for i, th := range things {
			dies := len(th.owners) > 0 && !gone[i]
			others := 0
			for _, o := range th.owners {
				switch {
				case !gone[o]:
					dies = false
				case !orphaning(o):
					others++
				case kept:
					dies = false
				}
			}
			if dies && others > 0 {
				gone[i], changed = true, true
			}
		}
	}
	left := map[string]bool{}
	for i, th := range things {
		if _, _, name := th.key.Split(); !gone[i] {
			left[name] = true
		}
	}
	return left
}

// TestCollect_agrees_with_the_model ends the leadership after random numbers of writes, checks each
// write, and compares the objects that remain with the naive model. No object may still be waiting
// for its deletion, and none may refer to a removed one.
func TestCollect_agrees_with_the_model(t *testing.T) {
	t.Parallel()
	catalog := catalogOf(t)
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, catalog)
		things := grow(t, w)
		deleteSome(t, w, things)
		w.watch = func(before *state.Root, key state.Key, removed bool) { checkWrite(t, w, things, before, key, removed) }
		for range rapid.IntRange(0, 3).Draw(t, "crashes") {
			w.crash = rapid.IntRange(0, 6).Draw(t, "writes until the crash")
			w.collect()
		}
		w.crash = -1
		if !w.collect() {
			t.Fatal("writes failed")
		}
		checkLeft(t, w, things)
	})
}

// TestCollect_while_clients_delete deletes more objects at each pause of the collector, and checks
// that no deletion stays incomplete.
func TestCollect_while_clients_delete(t *testing.T) {
	t.Parallel()
	catalog := catalogOf(t)
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, catalog)
		things := grow(t, w)
		w.watch = func(before *state.Root, key state.Key, removed bool) { checkWrite(t, w, things, before, key, removed) }
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			deleteSome(t, w, things)
			w.crash = rapid.IntRange(-1, 6).Draw(t, "writes until the crash")
			w.collect()
			w.crash = -1
		}
		if !w.collect() {
			t.Fatal("writes failed")
		}
		checkWhole(t, w)
	})
}

// checkWrite checks that an owner is not removed before all of its dependents are orphaned, if it
// orphans them (G21), and that no object is removed while one of its owners exists (G43).
func checkWrite(t *rapid.T, w *world, things []thing, before *state.Root, key state.Key, removed bool) {
	o := before.Get(key)
	l, err := readLinks(w.catalog.Stored(key.Resource()), o)
	if err != nil {
		t.Fatal(err)
	}
	if !removed {
		return
	}
	for i := range things {
		if things[i].key == key && things[i].policy != deletion.Unset {
			l.Owners = nil // a client deletes it
		}
	}
	before.Ascend("", "", func(other *state.Object) bool {
		links, err := readLinks(w.catalog.Stored(key.Resource()), other)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range l.Owners {
			if r.UID == other.UID && !links.going() && other.Key != key {
				t.Fatalf("%q goes while its owner %q lives", key, other.Key)
			}
		}
		for _, r := range links.Owners {
			if r.UID == o.UID && l.going() && l.orphans() && other.Key != key {
				t.Fatalf("%q goes before %q has forgotten it", key, other.Key)
			}
		}
		return true
	})
}

func checkLeft(t *rapid.T, w *world, things []thing) {
	checkWhole(t, w)
	left := w.left()
	least, most := survivors(things, false), survivors(things, true)
	for name := range left {
		if !most[name] {
			t.Fatalf("%s is left; want at most %v", name, slices.Sorted(maps.Keys(most)))
		}
	}
	for name := range least {
		if _, ok := left[name]; !ok {
			t.Fatalf("%s is gone; want at least %v", name, slices.Sorted(maps.Keys(least)))
		}
	}
}

// checkWhole checks that no object is still being deleted and that no object refers to a removed
// one.
func checkWhole(t *rapid.T, w *world) {
	left := w.left()
	for name, owners := range left {
		for _, owner := range owners {
			if _, ok := left[owner]; !ok {
				t.Fatalf("%s refers to %s, of %v", name, owner, left)
			}
		}
		if name[len(name)-1] == '!' {
			t.Fatalf("%s is going for ever, of %v", name, left)
		}
	}
}
