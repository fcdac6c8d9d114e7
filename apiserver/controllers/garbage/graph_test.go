package garbage

import (
	"testing"

	"quorate/raftstore/state"
)

func nobody(state.Key) {}

func ownedBy(refs ...reference) *links { return &links{Owners: refs} }

// TestGraph_counts_each_reference checks that an object that refers to an owner twice blocks it if
// one of the references does.
func TestGraph_counts_each_reference(t *testing.T) {
	owner, dependent := state.NewKey("configmaps", "a", "owner"), state.NewKey("configmaps", "a", "dependent")
	for name, refs := range map[string][]reference{
		"first":  {{UID: "o", Blocks: true}, {UID: "o"}},
		"second": {{UID: "o"}, {UID: "o", Blocks: true}},
	} {
		g := newGraph()
		g.set(dependent, "d", ownedBy(refs...), nobody)
		if some, blocking := g.dependents(owner, "o"); !some || !blocking {
			t.Errorf("the %s reference blocks: some %v, blocking %v", name, some, blocking)
		}
	}
}

// TestGraph_ignores_owners_in_other_namespaces checks that an owner must be cluster-scoped or in
// the namespace of its dependent (G45).
func TestGraph_ignores_owners_in_other_namespaces(t *testing.T) {
	for _, tc := range []struct {
		owner, dependent string
		want             bool
	}{{"", "", true}, {"", "a", true}, {"a", "a", true}, {"a", "b", false}, {"a", "", false}} {
		g := newGraph()
		g.set(state.NewKey("configmaps", tc.dependent, "d"), "d", ownedBy(reference{UID: "o", Blocks: true}), nobody)
		some, blocking := g.dependents(state.NewKey("configmaps", tc.owner, "o"), "o")
		if some != tc.want || blocking != tc.want {
			t.Errorf("owner in %q, dependent in %q: some %v, blocking %v", tc.owner, tc.dependent, some, blocking)
		}
	}
}

// TestGraph_drops_removed_objects checks that the graph does not retain removed objects.
func TestGraph_drops_removed_objects(t *testing.T) {
	g := newGraph()
	owner, dependent := state.NewKey("configmaps", "a", "owner"), state.NewKey("configmaps", "a", "dependent")
	going := &links{Deletion: "2026-11-22T00:00:00Z", Finalizers: []string{"foregroundDeletion"}}
	g.set(dependent, "d", ownedBy(reference{UID: "o", Blocks: true}), nobody)
	g.set(owner, "o", going, nobody)
	looked := map[state.Key]bool{}
	look := func(key state.Key) { looked[key] = true }
	g.remove(owner, "o", look)
	if g.knows(owner) || !g.knows(dependent) || !looked[dependent] {
		t.Errorf("owner known: %v, dependent known: %v, looked at: %v", g.knows(owner), g.knows(dependent), looked)
	}
	g.remove(dependent, "d", look)
	if n := len(g.edges) + len(g.owned) + len(g.waiting) + len(g.keys); n > 0 {
		t.Errorf("%d things are left of nothing: %+v", n, g)
	}
}
