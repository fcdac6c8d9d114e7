package fsm_test

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

// Every version of the new cluster is greater than all versions that a client of the old cluster
// has seen, provided that those exceed the state by at most the gap (N14).
func TestWriteFork_raises_every_version_and_keeps_the_rest_N14(t *testing.T) {
	const gap = 1 << 40
	tree := filled(t, 40, 100)
	tree.Stamp(time.Unix(1_000, 0))
	fsm.Apply(tree, tree.Index()+1, marshal(t, createEntry("pods", "z", "later", 10)))
	tree.Stamp(time.Unix(2_000, 0))
	before := tree.Publish()

	var b bytes.Buffer
	if err := fsm.WriteFork(&b, before, fsm.Fork{ClusterID: "c2", Gap: gap}); err != nil {
		t.Fatal(err)
	}
	read, err := fsm.ReadSnapshot(&b)
	if err != nil {
		t.Fatal(err)
	}
	after := read.Publish()
	if after.Index() != before.Index()+gap || after.ClusterID() != "c2" || after.Len() != before.Len() {
		t.Fatalf("forked to index %d of %q with %d objects", after.Index(), after.ClusterID(), after.Len())
	}
	if after.Failed().Len() != 0 || after.Failed().Floor() != after.Index() {
		t.Errorf("%d failures above %d, want none: the new log begins after %d", after.Failed().Len(), after.Failed().Floor(), after.Index())
	}
	marks := maps.Collect(before.Times().All())
	for index, seconds := range after.Times().All() {
		if marks[index-gap] != seconds {
			t.Errorf("entry %d appended at %d, want %d", index, seconds, marks[index-gap])
		}
	}
	if after.Times().Len() != 2 {
		t.Errorf("%d times", after.Times().Len())
	}
	before.Ascend("", "", func(o *state.Object) bool {
		want := *o
		want.Version, want.Created = o.Version+gap, o.Created+gap
		got := after.Get(o.Key)
		old, raised := fmt.Sprintf(`"resourceVersion":"%d"`, o.Version), fmt.Sprintf(`"resourceVersion":"%d"`, want.Version)
		want.Value = []byte(strings.Replace(string(o.Value), old, raised, 1))
		if got == nil || fmt.Sprint(*got) != fmt.Sprint(want) || !strings.Contains(string(o.Value), old) {
			t.Fatalf("%q became %v, want %v", o.Key, got, want)
		}
		return true
	})
}

func TestChecksum_is_of_the_whole_state(t *testing.T) {
	same := fsm.Checksum(filled(t, 20, 100).Publish())
	if again := fsm.Checksum(filled(t, 20, 100).Publish()); again != same {
		t.Errorf("two states of the same entries sum up to %x and %x", same, again)
	}
	for name, change := range map[string]func(*state.Tree){
		"an object more": func(tree *state.Tree) {
			fsm.Apply(tree, 1000, marshal(t, createEntry("pods", "a", "b", 10)))
		},
		"a failure more": func(tree *state.Tree) { tree.Fail(1000) },
		"an index":       func(tree *state.Tree) { tree.Advance(1000) },
		"a byte": func(tree *state.Tree) {
			o := *tree.Get(state.NewKey("pods", "ns-0", "name-00003"))
			o.Value = bytes.Clone(o.Value)
			o.Value[len(o.Value)-2] ^= 1
			tree.Set(&o)
		},
	} {
		tree := filled(t, 20, 100)
		change(tree)
		if fsm.Checksum(tree.Publish()) == same {
			t.Errorf("%s makes no difference", name)
		}
	}
}
