package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

// fataler is the part of testing.TB that rapid.T has, too.
type fataler interface {
	Helper()
	Fatal(...any)
}

func snapshotOf(t fataler, root *state.Root) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := fsm.WriteSnapshot(&b, root); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func createEntry(resource, namespace, name string, size int) *logpb.Entry {
	head := `{"kind":"K","apiVersion":"v1","metadata":{"name":"` + name + `","resourceVersion":"`
	value := head + `"},"data":"` + strings.Repeat("x", size) + `"}`
	return &logpb.Entry{Format: 1, Op: &logpb.Entry_Create{Create: &logpb.Create{
		Key: &logpb.Key{Resource: resource, Namespace: namespace, Name: name},
		Object: &logpb.Object{
			Value: []byte(value), VersionOffset: uint32(len(head)), Uid: fmt.Sprintf("%036d", len(name)),
			Labels: "app\x00web\x00tier\x00front\x00", Fields: "metadata.name\x00" + name + "\x00metadata.namespace\x00" + namespace + "\x00",
		},
	}}}
}

// noEntry is a log that has no entries.
func noEntry(uint64) ([]byte, error) { return nil, nil }

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unknownEntry is an entry that this build must not apply, with the expected error.
type unknownEntry struct {
	data []byte
	says string
}

// unknown returns entries that this build must not apply.
func unknown(t *testing.T) map[string]unknownEntry {
	t.Helper()
	good := createEntry("pods", "a", "x", 10)
	without := func(change func(*logpb.Entry)) []byte {
		e := proto.Clone(good).(*logpb.Entry)
		change(e)
		return marshal(t, e)
	}
	return map[string]unknownEntry{
		"newer format": {without(func(e *logpb.Entry) { e.Format = 2 }), "unknown format 2"},
		"no format":    {without(func(e *logpb.Entry) { e.Format = 0 }), "unknown format 0"},
		"no operation": {without(func(e *logpb.Entry) { e.Op = nil }), "no operation"},
		"newer operation": {
			protowire.AppendString(protowire.AppendTag(without(func(e *logpb.Entry) { e.Op = nil }), 8, protowire.BytesType), "new"),
			"no operation",
		},
		"operation of bad type": {
			protowire.AppendVarint(protowire.AppendTag(without(func(e *logpb.Entry) { e.Op = nil }), 3, protowire.VarintType), 1),
			"wire type",
		},
		"two operations": {
			protowire.AppendBytes(protowire.AppendTag(marshal(t, good), 6, protowire.BytesType), nil), "more than one",
		},
		"no key":      {without(func(e *logpb.Entry) { e.GetCreate().Key = nil }), "incomplete key"},
		"nameless":    {without(func(e *logpb.Entry) { e.GetCreate().Key.Name = "" }), "incomplete key"},
		"zero in key": {without(func(e *logpb.Entry) { e.GetCreate().Key.Namespace = "a\x00b" }), "zero byte"},
		"empty guard": {without(func(e *logpb.Entry) { e.GetCreate().Guard = &logpb.Key{} }), "incomplete key"},
		"no object":   {without(func(e *logpb.Entry) { e.GetCreate().Object = nil }), "object is missing"},
		"wide offset": {without(func(e *logpb.Entry) { e.GetCreate().Object.VersionOffset = 1 << 20 }), "beyond the value"},
		"cut":         {marshal(t, good)[:20], "unexpected EOF"},
	}
}

func TestApply_refuses_unknown_entries(t *testing.T) {
	for name, c := range unknown(t) {
		t.Run(name, func(t *testing.T) {
			if _, err := fsm.Decode(c.data); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("Decode says %v, want %q", err, c.says)
			}
			var unknown *fsm.Unknown
			if _, err := fsm.Replay(c.data, 7, new(state.Failed), "", noEntry); !errors.As(err, &unknown) || unknown.Index != 7 {
				t.Fatalf("Replay says %v", err)
			}
			tree := state.NewTree()
			fsm.Apply(tree, 1, marshal(t, createEntry("pods", "a", "x", 10)))
			before := tree.Publish()
			result, event, err := fsm.Apply(tree, 7, c.data)
			if !errors.As(err, &unknown) || unknown.Index != 7 || !strings.Contains(unknown.Reason.Error(), c.says) {
				t.Fatalf("Apply says %v, want %q", err, c.says)
			}
			if !strings.Contains(err.Error(), "at index 7") || !strings.Contains(err.Error(), "run that build on this node") || strings.Contains(err.Error(), "\n") {
				t.Errorf("the message for the operator is %q", err)
			}
			if after := tree.Publish(); result.Object != nil || event != nil || after.Index() != 1 || fsm.Checksum(after) != fsm.Checksum(before) {
				t.Errorf("the entry changed the state: %v, %v, index %d", result, event, after.Index())
			}
		})
	}
}

// The error names the newer format even if this build can't parse the entry's fields.
func TestApply_names_a_newer_format(t *testing.T) {
	data := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 3)
	data = protowire.AppendVarint(protowire.AppendTag(data, 3, protowire.VarintType), 1)
	_, _, err := fsm.Apply(state.NewTree(), 9, data)
	if err == nil || err.Error() != "this node's build does not know entries of format 3 (its own is 1) at index 9, written by a newer build; run that build on this node" {
		t.Errorf("got %v", err)
	}
}

func TestApply_ignores_fields_of_newer_versions(t *testing.T) {
	data := marshal(t, createEntry("pods", "a", "x", 10))
	data = protowire.AppendVarint(protowire.AppendTag(data, 99, protowire.VarintType), 1)
	data = protowire.AppendFixed64(protowire.AppendTag(data, 98, protowire.Fixed64Type), 1)
	if result, event, _ := fsm.Apply(state.NewTree(), 1, data); result.Err != nil || event == nil {
		t.Fatalf("got %v, %v", result, event)
	}
}

func TestApply_panics_when_an_entry_is_applied_twice(t *testing.T) {
	tree := state.NewTree()
	data := marshal(t, createEntry("pods", "a", "x", 10))
	fsm.Apply(tree, 5, data)
	defer func() {
		if recover() == nil {
			t.Fatal("applied again")
		}
	}()
	fsm.Apply(tree, 5, data)
}

// A create allocates the object, its value, its key with its uid, its fields and the event. At
// 8,000 creates a second, garbage would be expensive.
func TestApply_allocates_little(t *testing.T) {
	tree := state.NewTree()
	create := marshal(t, createEntry("pods", "a", "x", 1024))
	fsm.Apply(tree, 1, create)
	index := uint64(1)
	update := marshal(t, &logpb.Entry{Format: 1, Op: &logpb.Entry_Update{Update: &logpb.Update{
		Key: &logpb.Key{Resource: "pods", Namespace: "a", Name: "x"}, Object: createEntry("pods", "a", "x", 1024).GetCreate().GetObject(),
		PreviousVersion: 1,
	}}})
	if n := testing.AllocsPerRun(100, func() {
		index++
		fsm.Apply(tree, index, create) // refused; allocates key, error and result
	}); n > 3 {
		t.Errorf("a refused create allocates %v times", n)
	}
	result, _, _ := fsm.Apply(tree, index+1, update)
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if e, err := fsm.Replay(update, 9, new(state.Failed), state.ResourcePrefix("configmaps"), noEntry); e != nil || err != nil {
			t.Fatal(e, err)
		}
	}); n > 0 {
		t.Errorf("an entry of another collection allocates %v times when it is replayed", n)
	}
}

func BenchmarkApply(b *testing.B) {
	for _, size := range []int{1 << 10, 7 << 10} {
		b.Run(fmt.Sprintf("create/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			tree := state.NewTree()
			log := make([][]byte, 10_000)
			for i := range log {
				log[i] = marshal(b, createEntry("pods", "a", fmt.Sprintf("pod-%06d", i*7919%len(log)), size))
			}
			i := 0
			for b.Loop() {
				if i%len(log) == 0 {
					tree = state.NewTree()
				}
				fsm.Apply(tree, uint64(i+1), log[i%len(log)])
				if i++; i%16 == 0 {
					tree.Publish()
				}
			}
		})
	}
}

// BenchmarkApply_update replaces one object repeatedly, with its uid as a precondition.
func BenchmarkApply_update(b *testing.B) {
	create := createEntry("pods", "a", "x", 1<<10)
	o := create.GetCreate().GetObject()
	var tree *state.Tree
	log := make([][]byte, 10_000)
	for i := range log {
		log[i] = marshal(b, &logpb.Entry{Format: 1, Op: &logpb.Entry_Update{Update: &logpb.Update{
			Key: create.GetCreate().GetKey(), Object: o, PreviousVersion: uint64(i + 1), Uid: o.GetUid(),
		}}})
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i%len(log) == 0 {
			tree = state.NewTree()
			fsm.Apply(tree, 1, marshal(b, create))
		}
		if r, _, _ := fsm.Apply(tree, uint64(i%len(log)+2), log[i%len(log)]); r.Err != nil {
			b.Fatal(r.Err)
		}
		if i++; i%16 == 0 {
			tree.Publish()
		}
	}
}

func BenchmarkReplay(b *testing.B) {
	data := marshal(b, createEntry("pods", "a", "x", 1024))
	for name, p := range map[string]state.Prefix{"covered": "pods\x00", "other": "configmaps\x00"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			failed := new(state.Failed)
			for b.Loop() {
				if _, err := fsm.Replay(data, 7, failed, p, noEntry); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzEntry(f *testing.F) {
	f.Add(marshal(f, createEntry("pods", "a", "x", 10)))
	f.Add(marshal(f, &logpb.Entry{Format: 1, Op: &logpb.Entry_Init{Init: &logpb.Init{ClusterId: "c"}}}))
	f.Add(marshal(f, &logpb.Entry{Format: 1, TimeUnixNano: -1, Op: &logpb.Entry_Pin{Pin: &logpb.Pin{}}}))
	f.Add(marshal(f, &logpb.Entry{Format: 1, Op: &logpb.Entry_Delete{Delete: &logpb.Delete{
		Key: &logpb.Key{Resource: "pods", Name: "x"}, PreviousVersion: 3, Uid: "u", Final: &logpb.Object{Value: []byte("{}")},
	}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := fsm.Decode(data); err != nil {
			return
		}
		tree := state.NewTree()
		result, event, err := fsm.Apply(tree, 1, data) // what Decode accepts must not panic
		if err != nil {
			t.Fatal(err)
		}
		replayed, err := fsm.Replay(data, 1, tree.Publish().Failed(), "", noEntry)
		if err != nil || (event == nil) != (replayed == nil) {
			t.Fatalf("%v applied as %v, replayed as %v, %v", result, event, replayed, err)
		}
		if err := fsm.WriteSnapshot(io.Discard, tree.Publish()); err != nil {
			t.Fatal(err)
		}
	})
}
