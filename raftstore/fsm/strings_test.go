package fsm_test

import (
	"bytes"
	"testing"
	"unsafe"

	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

// TestStringsOfAnObjectTakeOneAllocation: key, uid and fields lie one after the other in memory
// once an object was created, updated in the same or in other fields, or restored, so that nothing
// that an object no longer has stays in memory with it. Its content is that of the entries.
func TestStringsOfAnObjectTakeOneAllocation(t *testing.T) {
	tree := state.NewTree()
	fsm.Apply(tree, 1, marshal(t, &logpb.Entry{Format: 1, Op: &logpb.Entry_Init{Init: &logpb.Init{ClusterId: "c"}}}))
	create := createEntry("pods", "a", "x", 10)
	object := create.GetCreate().GetObject()
	key := create.GetCreate().GetKey()
	index := uint64(1)
	apply := func(what string, e *logpb.Entry) {
		t.Helper()
		index++
		result, _, err := fsm.Apply(tree, index, marshal(t, e))
		if err != nil || result.Err != nil {
			t.Fatalf("%s: %v, %v", what, err, result.Err)
		}
		check(t, what, result.Object, object)
	}
	apply("created", create)
	for _, fields := range []string{object.GetFields(), "status.phase\x00Running\x00", "", "status.phase\x00Failed\x00"} {
		object = proto.Clone(object).(*logpb.Object)
		object.Fields = fields
		apply("updated", &logpb.Entry{Format: 1, Op: &logpb.Entry_Update{Update: &logpb.Update{
			Key: key, Uid: object.GetUid(), PreviousVersion: index, Object: object,
		}}})
	}
	restored, err := fsm.ReadSnapshot(bytes.NewReader(snapshotOf(t, tree.Publish())))
	if err != nil {
		t.Fatal(err)
	}
	got := restored.Get(state.NewKey("pods", "a", "x"))
	if got == nil {
		t.Fatal("the object was not restored")
	}
	check(t, "restored", got, object)
}

func check(t *testing.T, what string, o *state.Object, want *logpb.Object) {
	t.Helper()
	if o.Key != state.NewKey("pods", "a", "x") || o.UID != want.GetUid() || string(o.Fields) != want.GetFields() {
		t.Errorf("%s: key %q, uid %q, fields %q", what, o.Key, o.UID, o.Fields)
	}
	at := uintptr(unsafe.Pointer(unsafe.StringData(string(o.Key)))) + uintptr(len(o.Key))
	if uid := uintptr(unsafe.Pointer(unsafe.StringData(o.UID))); uid != at {
		t.Errorf("%s: the uid does not follow the key", what)
	}
	at += uintptr(len(o.UID))
	if fields := uintptr(unsafe.Pointer(unsafe.StringData(string(o.Fields)))); len(o.Fields) > 0 && fields != at {
		t.Errorf("%s: the fields do not follow the uid", what)
	}
}
