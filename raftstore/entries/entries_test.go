package entries_test

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/entries"
	"quorate/raftstore/fsm"
	"quorate/raftstore/log"
	"quorate/raftstore/state"
)

// fakeLog is a log in memory whose first entry has index 1.
type fakeLog struct {
	first   uint64
	entries []raft.Log
	damaged uint64
}

func (f *fakeLog) FirstIndex() (uint64, error) { return f.first, nil }
func (f *fakeLog) LastIndex() (uint64, error)  { return uint64(len(f.entries)), nil }
func (f *fakeLog) GetLog(index uint64, entry *raft.Log) error {
	switch {
	case index < f.first || index > uint64(len(f.entries)):
		return raft.ErrLogNotFound
	case index == f.damaged:
		return &log.Corrupt{Index: index}
	}
	*entry = f.entries[index-1]
	return nil
}

// history is a log whose first entries have been applied.
type history struct {
	t    *testing.T
	log  fakeLog
	tree *state.Tree
}

func (h *history) add(op *logpb.Entry, applied bool) {
	h.t.Helper()
	op.Format, op.TimeUnixNano = 1, 1_700_000_000_000_000_000
	data, err := proto.Marshal(op)
	if err != nil {
		h.t.Fatal(err)
	}
	h.addRaw(raft.Log{Type: raft.LogCommand, Data: data})
	if applied {
		_, _, _ = fsm.Apply(h.tree, uint64(len(h.log.entries)), data) // the error is the refusal of the entry
	}
}

func (h *history) addRaw(entry raft.Log) {
	entry.Index, entry.Term = uint64(len(h.log.entries))+1, 2
	h.log.entries = append(h.log.entries, entry)
}

func objectOf(data string) *logpb.Object {
	return &logpb.Object{Value: []byte(`{"v":""}`), VersionOffset: 6, Uid: "u", Labels: data}
}

func secret() *logpb.Key { return &logpb.Key{Resource: "secrets", Namespace: "ns", Name: "a"} }

func create() *logpb.Entry {
	return &logpb.Entry{Op: &logpb.Entry_Create{Create: &logpb.Create{Key: secret(), Object: objectOf("1")}}}
}

func update(version uint64) *logpb.Entry {
	return &logpb.Entry{Op: &logpb.Entry_Update{Update: &logpb.Update{Key: secret(), Object: objectOf("1"), PreviousVersion: version}}}
}

func newHistory(t *testing.T) (*history, *entries.Reader) {
	h := &history{t: t, log: fakeLog{first: 1}, tree: state.NewTree()}
	h.addRaw(raft.Log{Type: raft.LogConfiguration, AppendedAt: time.Unix(5, 0)})
	h.add(&logpb.Entry{Op: &logpb.Entry_Init{Init: &logpb.Init{ClusterId: "c"}}}, true)
	h.add(create(), true)
	h.add(update(3), true)
	h.add(update(3), true) // refused: the version is 4
	h.add(update(4), true)
	h.add(&logpb.Entry{Op: &logpb.Entry_Pin{Pin: &logpb.Pin{}}}, true)
	h.addRaw(raft.Log{Type: raft.LogNoop})
	h.addRaw(raft.Log{Type: raft.LogCommand, Data: []byte{8, 2}})
	h.add(update(6), false) // committed
	h.add(update(10), false)
	h.tree.Advance(9)
	root := h.tree.Publish()
	return h, entries.New(entries.Config{Log: &h.log, Root: func() *state.Root { return root }, Committed: func() uint64 { return 10 }})
}

func TestPage(t *testing.T) {
	t.Parallel()
	h, r := newHistory(t)
	h.log.damaged = 6
	page, err := r.Page(0, 100)
	if err != nil || len(page) != 11 {
		t.Fatalf("%+v (%v)", page, err)
	}
	key := state.NewKey("secrets", "ns", "a")
	for i, want := range []struct {
		operation entries.Operation
		stage     entries.Stage
		key       state.Key
	}{
		{entries.Update, entries.Proposed, key}, {entries.Update, entries.Committed, key}, {entries.Unknown, entries.Applied, ""},
		{entries.Noop, entries.Applied, ""}, {entries.Pin, entries.Applied, ""}, {entries.Damaged, entries.Applied, ""},
		{entries.Update, entries.Refused, key}, {entries.Update, entries.Applied, key}, {entries.Create, entries.Applied, key},
		{entries.Init, entries.Applied, ""}, {entries.Configuration, entries.Applied, ""},
	} {
		got := page[i]
		if got.Index != uint64(11-i) || got.Operation != want.operation || got.Stage != want.stage || got.Key != want.key {
			t.Errorf("entry %d: %+v, want %+v", got.Index, got, want)
		}
	}
	if at := page[8].Time; !at.Equal(time.Unix(1_700_000_000, 0)) {
		t.Errorf("the time of a command is %v", at)
	}
	if at := page[10].Time; !at.Equal(time.Unix(5, 0)) {
		t.Errorf("the time of a configuration is %v", at)
	}
	h.log.first = 3
	if page, err := r.Page(5, 100); err != nil || len(page) != 2 || page[1].Index != 3 {
		t.Errorf("a page at the beginning of the log: %+v (%v)", page, err)
	}
}

// TestPageIsBounded: large entries end a page early, and one larger than the bound is on a page.
func TestPageIsBounded(t *testing.T) {
	t.Parallel()
	h := &history{t: t, log: fakeLog{first: 1}, tree: state.NewTree()}
	for range 5 {
		h.addRaw(raft.Log{Type: raft.LogCommand, Data: make([]byte, 5<<20)})
	}
	root := h.tree.Publish()
	r := entries.New(entries.Config{Log: &h.log, Root: func() *state.Root { return root }, Committed: func() uint64 { return 0 }})
	if page, err := r.Page(0, 100); err != nil || len(page) != 2 {
		t.Errorf("%d entries of 5 MiB are on a page (%v)", len(page), err)
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	h, r := newHistory(t)
	for _, tc := range []struct {
		index         uint64
		before, after string
	}{
		{3, "", `{"v":"3"}`},
		{4, `{"v":"3"}`, `{"v":"4"}`},
		{5, "", ""}, // refused
		{6, `{"v":"4"}`, `{"v":"6"}`},
		{8, "", ""},  // of Raft
		{9, "", ""},  // unknown
		{10, "", ""}, // not applied yet
		{11, "", ""},
	} {
		c, err := r.Change(tc.index)
		if err != nil || c.Index != tc.index || string(c.Before) != tc.before || string(c.After) != tc.after || c.BeforeUnknown {
			t.Errorf("entry %d: %+v, want %s to %s (%v)", tc.index, c, tc.before, tc.after, err)
		}
	}
	h.log.first = 4
	if c, err := r.Change(4); err != nil || !c.BeforeUnknown || c.Before != nil || string(c.After) != `{"v":"4"}` {
		t.Errorf("an update of an object that the log no longer has: %+v (%v)", c, err)
	}
	h.log.first, h.log.damaged = 1, 4
	if c, err := r.Change(6); err != nil || !c.BeforeUnknown {
		t.Errorf("an update of an object whose entry is damaged: %+v (%v)", c, err)
	}
	if c, err := r.Change(4); err != nil || c.Operation != entries.Damaged || c.After != nil {
		t.Errorf("a damaged entry: %+v (%v)", c, err)
	}
}
