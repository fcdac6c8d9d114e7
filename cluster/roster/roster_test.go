package roster_test

import (
	"errors"
	"fmt"
	"testing"

	"quorate/cluster/roster"
)

func open(t *testing.T, dir string) *roster.Roster {
	t.Helper()
	r, err := roster.Open(dir, "n1", "id-1")
	must(t, err)
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRoster(t *testing.T) {
	t.Run("each start counts, and is told from a copy of it", func(t *testing.T) {
		dir := t.TempDir()
		a, b := open(t, dir).Self(), open(t, dir).Self()
		if a.Start != 1 || b.Start != 2 || a.Nonce == b.Nonce {
			t.Errorf("starts are %+v and %+v", a, b)
		}
	})
	t.Run("a bound name admits its owner only, after a restart too", func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		must(t, r.Admit("n2", "id-2"))
		must(t, r.Bind("n2", roster.Binding{NodeID: "id-2", PeerAddr: "a:1", Index: 5}))
		r = open(t, dir)
		must(t, r.Admit("n2", "id-2"))
		var taken *roster.NameTaken
		if err := r.Admit("n2", "id-3"); !errors.As(err, &taken) || taken.Owner != "id-2" || taken.Claims != "id-3" {
			t.Errorf("another node under the name: %v", err)
		}
		if addr, ok := r.PeerAddr("n2"); !ok || addr != "a:1" {
			t.Errorf("address is %q, %v", addr, ok)
		}
	})
	t.Run("the later binding counts, whichever is heard first", func(t *testing.T) {
		early, late := roster.Binding{NodeID: "id-2", Index: 5}, roster.Binding{NodeID: "id-9", Index: 8}
		for _, order := range [][]roster.Binding{{early, late}, {late, early}} {
			r := open(t, t.TempDir())
			for _, b := range order {
				must(t, r.Bind("n2", b))
			}
			if owner, _ := r.Owner("n2"); owner != "id-9" {
				t.Errorf("in order %v the owner is %s", order, owner)
			}
		}
	})
	t.Run("the names freed last are remembered", func(t *testing.T) {
		const names, remembered = 300, 256
		r := open(t, t.TempDir())
		bindings := map[string]roster.Binding{}
		inUse := map[string]bool{}
		name := func(i int) string { return fmt.Sprintf("node-%03d", i) }
		for i := 1; i <= names; i++ {
			bindings[name(i)] = roster.Binding{NodeID: "id-" + name(i), Index: 1}
			inUse[name(i)] = true
		}
		must(t, r.Merge(roster.Record{Bindings: bindings}))
		for i := 1; i <= names; i++ {
			delete(inUse, name(i))
			must(t, r.Release(inUse, uint64(1+i)))
		}
		kept := r.Record().Bindings
		for i := 1; i <= names; i++ {
			if _, known := kept[name(i)]; known != (i > names-remembered) {
				t.Errorf("%s, freed at %d of %d, is remembered: %t", name(i), i, names, known)
			}
		}
		// A member that lags behind still tells of the former owner of the name that was freed
		// last.
		must(t, r.Merge(roster.Record{Bindings: map[string]roster.Binding{name(names): bindings[name(names)]}}))
		if owner, bound := r.Owner(name(names)); bound {
			t.Errorf("the name that was freed last is %s's again", owner)
		}
	})
	t.Run("nodes are barred together with the cluster that is made without them, or not at all", func(t *testing.T) {
		for made, want := range map[string]error{"new": roster.ErrRemoved, "old": nil} {
			dir := t.TempDir()
			r := open(t, dir)
			must(t, r.Bind("n1", roster.Binding{NodeID: "id-1", Index: 1}))
			must(t, r.Bind("n2", roster.Binding{NodeID: "id-2", Index: 1}))
			must(t, r.BarAllOnce("new"))
			r = open(t, dir) // it was broken off here
			must(t, r.Admit("n2", "id-2"))
			must(t, r.Settle(made))
			for range 2 {
				if err := r.Admit("n2", "id-2"); !errors.Is(err, want) || (err == nil) != (want == nil) {
					t.Errorf("member of cluster %q: another is admitted with %v, want %v", made, err, want)
				}
				must(t, r.Admit("n1", "id-1"))
				r = open(t, dir)
				must(t, r.Settle("new")) // forgotten, whatever comes after
			}
		}
	})
	t.Run("a freed name is free, and an old binding heard again does not bring the owner back", func(t *testing.T) {
		r := open(t, t.TempDir())
		old := roster.Binding{NodeID: "id-2", Index: 5}
		must(t, r.Bind("n2", old))
		must(t, r.Bind("n3", roster.Binding{NodeID: "id-3", Index: 5}))
		must(t, r.Release(map[string]bool{"n3": true}, 7))
		must(t, r.Bind("n2", old))
		must(t, r.Admit("n2", "id-9"))
		if _, bound := r.Owner("n2"); bound {
			t.Error("n2 has an owner")
		}
		if owner, _ := r.Owner("n3"); owner != "id-3" {
			t.Errorf("n3 belongs to %q", owner)
		}
		must(t, r.Bind("n2", roster.Binding{NodeID: "id-9", Index: 8}))
		if owner, _ := r.Owner("n2"); owner != "id-9" {
			t.Errorf("n2 belongs to %q", owner)
		}
	})
	t.Run("a binding newer than what this node has applied is left alone", func(t *testing.T) {
		r := open(t, t.TempDir())
		must(t, r.Bind("n2", roster.Binding{NodeID: "id-2", Index: 9}))
		must(t, r.Release(nil, 8))
		if _, bound := r.Owner("n2"); !bound {
			t.Error("it was released")
		}
	})
	t.Run("a removed node is barred under any name", func(t *testing.T) {
		dir := t.TempDir()
		must(t, open(t, dir).Remove("id-2"))
		if err := open(t, dir).Admit("n7", "id-2"); !errors.Is(err, roster.ErrRemoved) {
			t.Errorf("Admit says %v", err)
		}
	})
	t.Run("what is remembered is bounded", func(t *testing.T) {
		r := open(t, t.TempDir())
		var all roster.Record
		all.Bindings = map[string]roster.Binding{}
		for i := range 600 {
			all.Removed = append(all.Removed, fmt.Sprint("gone-", i))
			all.Bindings[fmt.Sprint("n", i)] = roster.Binding{NodeID: fmt.Sprint("id-", i), Index: uint64(i)}
		}
		must(t, r.Merge(all))
		must(t, r.Release(nil, 1000))
		if got := r.Record(); len(got.Removed) > 256 || len(got.Bindings) > 256 {
			t.Errorf("%d removed and %d freed are remembered", len(got.Removed), len(got.Bindings))
		}
		if got, want := r.Forgotten(), 2*(600-256); got != want {
			t.Errorf("%d are counted as forgotten, want %d", got, want)
		}
	})
	t.Run("what is told does not change a record that was handed out", func(t *testing.T) {
		r := open(t, t.TempDir())
		must(t, r.Bind("n2", roster.Binding{NodeID: "id-2", Index: 1}))
		before := r.Record()
		must(t, r.Moved("n2", "b:2"))
		must(t, r.Release(nil, 9))
		if b := before.Bindings["n2"]; b.NodeID != "id-2" || b.PeerAddr != "" {
			t.Errorf("the record changed to %+v", b)
		}
	})
}
