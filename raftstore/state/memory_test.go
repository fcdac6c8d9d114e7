package state

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// podLike returns a loader with n pod-like objects, and the total size of their values.
func podLike(t testing.TB, n, size int) (*Loader, int64) {
	t.Helper()
	l, err := NewLoader(1, "c", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values int64
	for i := range n {
		name := fmt.Sprintf("web-6d4b75cb6d-%05d", i)
		identity := string(NewKey("pods", "production", name)) + fmt.Sprintf("5f0c9a2e-8f8b-4b0e-9d0a-%012d", i)
		at := len(identity) - 36
		labels := fmt.Appendf(nil, "app\x00web-%d\x00pod-template-hash\x006d4b75cb6d\x00tier\x00front\x00", i/100)
		o := &Object{
			Key: Key(identity[:at]), UID: identity[at:], Version: 1, Created: 1, Value: make([]byte, size), Labels: l.Intern(labels),
			Fields: Attributes("metadata.name\x00" + name + "\x00metadata.namespace\x00production\x00spec.nodeName\x00node-17\x00status.phase\x00Running\x00"),
		}
		values += int64(size)
		if err := l.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	return l, values
}

// 100,000 pods of 7 KiB must fit into 1 GiB, which leaves about 3.5 KiB for everything else that
// concerns one pod. The tree must take little of that: for each object about 112 bytes for the
// struct, 80 for the key and uid, 112 for the fields, and 40 for the nodes.
func TestState_memory_per_object_stays_within_its_budget(t *testing.T) {
	const n, size, budget = 20_000, 1 << 10, 400
	before := liveHeap()
	l, values := podLike(t, n, size)
	root := l.Tree().Publish()
	each := (liveHeap() - before - values) / n
	t.Logf("%d bytes an object beside its value", each)
	if each > budget {
		t.Errorf("%d bytes an object beside its value, more than %d", each, budget)
	}
	runtime.KeepAlive(root)
}

// Objects that are replaced after a restart are freed although their neighbours remain.
func TestLoader_nodes_share_no_arrays(t *testing.T) {
	const n, size = 4_000, 4 << 10
	l, _ := podLike(t, n, size)
	tree := l.Tree()
	before := liveHeap()
	i := 0
	tree.Publish().Ascend("", "", func(o *Object) bool {
		if i++; i/64%2 == 0 { // every other run of the size of a node
			replacement := *o
			replacement.Value = nil
			tree.Set(&replacement)
		}
		return true
	})
	root := tree.Publish()
	freed := before - liveHeap()
	if want := int64(n / 2 * size * 9 / 10); freed < want {
		t.Errorf("freed %d bytes, want at least %d", freed, want)
	}
	runtime.KeepAlive(root)
	runtime.KeepAlive(tree)
}

func TestIntern_shares_equal_attributes(t *testing.T) {
	tree := NewTree()
	b := []byte("app\x00web\x00")
	tree.Intern(b)
	if n := testing.AllocsPerRun(100, func() { tree.Intern(b) }); n != 0 {
		t.Errorf("a known set allocates %v times", n)
	}
	for _, s := range []string{"", "a\x00b\x00", strings.Repeat("x", maxInternLen+1)} {
		b := []byte(s)
		a := tree.Intern(b)
		clear(b)
		if string(a) != s || string(tree.Intern([]byte(s))) != s {
			t.Errorf("%.10q interned as %.10q", s, a)
		}
	}
}

func TestObject_bytes_with_another_version(t *testing.T) {
	const head, tail = `{"resourceVersion":"`, `","more":9}`
	for _, version := range []uint64{0, 9, 10, 99, 100, 1<<64 - 1} {
		value := Splice([]byte(head+tail), uint32(len(head)), version)
		if string(value) != fmt.Sprint(head, version, tail) {
			t.Errorf("spliced into %s", value)
		}
		o := &Object{Version: version, VersionOffset: uint32(len(head)), Value: value}
		for _, other := range []uint64{7, 12345} {
			if got := string(o.WithVersion(other)); got != fmt.Sprint(head, other, tail) {
				t.Errorf("from %d to %d: %s", version, other, got)
			}
		}
	}
}
