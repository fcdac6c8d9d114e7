package write

import (
	"testing"

	"quorate/raftstore/state"
)

// TestWritten: the answer to a write is the object of its entry, whatever the state has by then:
// the same, a later one, none, or one from before.
func TestWritten(t *testing.T) {
	t.Parallel()
	tree := state.NewTree()
	w := &Writer{cfg: Config{Root: func() *state.Root { return tree.Publish() }}}
	key := state.NewKey("pods", "a", "x")
	sent := &state.Object{UID: "u", Value: []byte(`{"v":"","n":1}`), VersionOffset: 6}
	set := func(version uint64, value string) {
		tree.Advance(version)
		tree.Set(&state.Object{Key: key, UID: "u", Version: version, Created: 5, Value: []byte(value), VersionOffset: 6})
	}
	for _, now := range []func(){
		func() {},
		func() { set(6, `{"v":"6","n":0}`) },
		func() { set(7, `{"v":"7","n":1}`) },
		func() { set(8, `{"v":"8","n":2}`) },
		func() { tree.Advance(9); tree.Delete(key) },
	} {
		now()
		o := w.written(sent, key, 7, 5)
		if o.Key != key || o.Version != 7 || o.Created != 5 || o.UID != "u" || string(o.Value) != `{"v":"7","n":1}` {
			t.Errorf("at index %d: %+v with %s", w.cfg.Root().Index(), o, o.Value)
		}
	}
}
