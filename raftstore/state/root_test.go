package state

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

func object(k Key, version uint64, size int) *Object {
	return &Object{
		Key: k, Version: version, Created: version, UID: fmt.Sprintf("%036d", version), Value: make([]byte, size),
	}
}

// A root remains unchanged whatever happens to the tree later, for any batches in between.
func TestRoot_never_changes_after_publish(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := NewTree()
		want := make(map[Key]*Object)
		type published struct {
			root *Root
			want map[Key]*Object
		}
		var all []published
		for version := range uint64(rapid.IntRange(1, 400).Draw(t, "changes")) {
			k := NewKey("pods", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace"), fmt.Sprint(rapid.IntRange(0, 120).Draw(t, "name")))
			if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
				tree.Delete(k)
				delete(want, k)
			} else {
				want[k] = object(k, version, 1)
				tree.Set(want[k])
			}
			tree.Advance(version + 1)
			if rapid.IntRange(0, 9).Draw(t, "publish") == 0 {
				all = append(all, published{tree.Publish(), maps.Clone(want)})
			}
		}
		for _, p := range append(all, published{tree.Publish(), want}) {
			check(t, p.root, p.want)
		}
	})
}

// At returns the state at an earlier index only if nothing has changed since.
func TestRoot_at_an_earlier_index(t *testing.T) {
	tree := NewTree()
	tree.Advance(7)
	tree.Set(object(NewKey("pods", "a", "x"), 7, 1))
	tree.Advance(9)
	root := tree.Publish()
	for index, want := range map[uint64]bool{6: false, 7: true, 8: true, 9: true, 10: false} {
		at := root.At(index)
		if (at != nil) != want || want && (at.Index() != index || at.Len() != 1) {
			t.Errorf("the state after %d: %v, want one: %v", index, at, want)
		}
	}
}

func check(t *rapid.T, root *Root, want map[Key]*Object) {
	var size uint64
	for k, o := range want {
		size += uint64(o.Size())
		if root.Get(k) != o {
			t.Fatalf("%q: got %v", k, root.Get(k))
		}
	}
	if root.Len() != len(want) || root.Bytes() != size {
		t.Fatalf("%d objects of %d bytes, want %d of %d", root.Len(), root.Bytes(), len(want), size)
	}
	keys := slices.Sorted(maps.Keys(want))
	after := Key("")
	if len(keys) > 0 && rapid.Bool().Draw(t, "resume") {
		after = rapid.SampledFrom(keys).Draw(t, "after")
		if rapid.Bool().Draw(t, "between") {
			after += "!"
		}
	}
	for _, p := range []Prefix{"", ResourcePrefix("pods"), NamespacePrefix("pods", "a"), NamespacePrefix("pods", "b"), "x"} {
		in := slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return !p.Covers(k) })
		if root.Count(p) != len(in) {
			t.Fatalf("%q: counted %d of %d", p, root.Count(p), len(in))
		}
		in = slices.DeleteFunc(in, func(k Key) bool { return k <= after })
		if n := root.CountAfter(p, after); n != len(in) {
			t.Fatalf("%q after %q: counted %d of %d", p, after, n, len(in))
		}
		limit := rapid.IntRange(0, len(in)+1).Draw(t, "limit")
		var got []Key
		root.Ascend(p, after, func(o *Object) bool {
			got = append(got, o.Key)
			return len(got) <= limit
		})
		if in = in[:min(len(in), limit+1)]; !slices.Equal(got, in) {
			t.Fatalf("%q after %q: got %q, want %q", p, after, got, in)
		}
	}
}

// Readers must never see half a batch; the race detector checks the rest.
func TestRoot_is_read_while_the_tree_changes(t *testing.T) {
	const keys, readers, batches = 500, 4, 2000
	tree := NewTree()
	key := func(i int) Key { return NewKey("pods", "a", fmt.Sprintf("%04d", i)) }
	for i := range keys {
		tree.Set(object(key(i), 0, 1))
	}
	var current atomic.Pointer[Root]
	current.Store(tree.Publish())
	var done atomic.Bool
	var group sync.WaitGroup
	for range readers {
		group.Go(func() {
			for !done.Load() {
				root := current.Load()
				// Every batch brings a pair of objects to its version, or removes both.
				versions := make(map[uint64]int)
				root.Ascend("", "", func(o *Object) bool { versions[o.Version]++; return true })
				for version, n := range versions {
					if version > root.Index() || n%2 != 0 {
						t.Errorf("%d objects of version %d at index %d", n, version, root.Index())
						return
					}
				}
				root.Get(key(7))
				root.Count(ResourcePrefix("pods"))
			}
		})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for index := range uint64(batches) {
		i := r.IntN(keys/2) * 2
		if r.IntN(3) == 0 {
			tree.Delete(key(i))
			tree.Delete(key(i + 1))
		} else {
			tree.Set(object(key(i), index+1, 1))
			tree.Set(object(key(i+1), index+1, 1))
		}
		tree.Advance(index + 1)
		current.Store(tree.Publish())
	}
	done.Store(true)
	group.Wait()
}

func TestRoot_reads_allocate_nothing(t *testing.T) {
	tree := NewTree()
	for i := range 1000 {
		tree.Set(object(NewKey("pods", fmt.Sprint(i%3), fmt.Sprintf("%04d", i)), 1, 1))
		tree.Fail(uint64(i + 1))
	}
	root := tree.Publish()
	k, p, n := NewKey("pods", "1", "0100"), NamespacePrefix("pods", "1"), 0
	reads := map[string]func(){
		"Get":      func() { root.Get(k) },
		"Count":    func() { root.Count(p) },
		"Ascend":   func() { root.Ascend(p, k, func(*Object) bool { n++; return true }) },
		"Contains": func() { root.Failed().Contains(500) },
	}
	for name, read := range reads {
		if n := testing.AllocsPerRun(100, read); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func TestTree_panics_when_the_index_does_not_rise(t *testing.T) {
	tree := NewTree()
	tree.Advance(5)
	defer func() {
		if r := fmt.Sprint(recover()); !strings.Contains(r, "entry 5 applied after entry 5") {
			t.Fatalf("recovered %s", r)
		}
	}()
	tree.Advance(5)
}

func TestTree_keeps_the_first_cluster_id(t *testing.T) {
	tree := NewTree()
	tree.InitCluster("one")
	tree.InitCluster("two")
	if id := tree.Publish().ClusterID(); id != "one" || tree.ClusterID() != "one" {
		t.Fatalf("cluster id is %q", id)
	}
}

func benchTree(n int) (*Tree, []Key) {
	tree := NewTree()
	keys := make([]Key, n)
	for i := range keys {
		keys[i] = NewKey("pods", fmt.Sprintf("ns-%d", i%20), fmt.Sprintf("pod-%06d", i))
		tree.Set(object(keys[i], 1, 8))
	}
	return tree, keys
}

func BenchmarkGet(b *testing.B) {
	tree, keys := benchTree(100_000)
	root := tree.Publish()
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		root.Get(keys[r.IntN(len(keys))])
	}
}

func BenchmarkAscend(b *testing.B) {
	tree, _ := benchTree(100_000)
	root := tree.Publish()
	b.ReportAllocs()
	for b.Loop() {
		root.Ascend(NamespacePrefix("pods", "ns-7"), "", func(*Object) bool { return true })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5000, "ns/object")
}

func BenchmarkPublish(b *testing.B) {
	for _, batch := range []int{1, 16, 128} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			tree, keys := benchTree(100_000)
			r := rand.New(rand.NewPCG(1, 2))
			b.ReportAllocs()
			for i := 1; b.Loop(); i++ {
				tree.Set(tree.Get(keys[r.IntN(len(keys))]))
				if i%batch == 0 {
					tree.Publish()
				}
			}
		})
	}
}
