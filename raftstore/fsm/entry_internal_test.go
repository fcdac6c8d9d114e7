package fsm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/state"
)

func encoded(t testing.TB, e *logpb.Entry) []byte {
	t.Helper()
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// operations returns entries of each operation, some with all fields, some with few.
func operations() []*logpb.Entry {
	k, guard := &logpb.Key{Resource: "pods", Namespace: "a", Name: "x"}, &logpb.Key{Resource: "namespaces", Name: "a"}
	o := &logpb.Object{Value: []byte("{}"), VersionOffset: 1, Uid: "u", Labels: "l\x00m\x00", Fields: "f\x00g\x00", Sealed: true}
	previous := &logpb.Object{Value: []byte("[]"), VersionOffset: 2, Uid: "u", Labels: "l\x00n\x00"}
	all := []*logpb.Entry{
		{Op: &logpb.Entry_Create{Create: &logpb.Create{Key: k, Object: o}}},
		{Op: &logpb.Entry_Create{Create: &logpb.Create{Key: k, Object: o, Guard: guard}}},
		{Op: &logpb.Entry_Update{Update: &logpb.Update{Key: guard, Object: o, PreviousVersion: 5}}},
		{Op: &logpb.Entry_Update{Update: &logpb.Update{Key: k, Object: o, PreviousVersion: 5, Uid: "u", Previous: previous}}},
		{Op: &logpb.Entry_Delete{Delete: &logpb.Delete{Key: k, Final: o, PreviousVersion: 5, AttributesKept: true}}},
		{Op: &logpb.Entry_Delete{Delete: &logpb.Delete{Key: k, Final: o, PreviousVersion: 5, Uid: "u", Previous: previous}}},
		{Op: &logpb.Entry_Init{Init: &logpb.Init{ClusterId: "c"}}},
		{Op: &logpb.Entry_Pin{Pin: &logpb.Pin{}}},
	}
	for _, e := range all {
		e.Format, e.TimeUnixNano = 1, 1_700_000_000_000_000_001
	}
	return all
}

// FuzzDecode compares the view of an entry with what the protobuf library decodes.
func FuzzDecode(f *testing.F) {
	for _, e := range operations() {
		f.Add(encoded(f, e))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = DecodeProposal(data) // must not panic, whatever a peer sends
		var m logpb.Entry
		if (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, &m) != nil {
			return
		}
		// Compare the view with the library's own encoding of m, in which, as in all entries that
		// nodes write, each field occurs once and has its type. In other encodings the two differ:
		// the library merges messages that occur twice and skips a field of another type, while the
		// view uses the last message and refuses other types.
		view, err := DecodeProposal(encoded(t, &m))
		if acceptable := acceptable(&m); (err == nil) != acceptable {
			t.Fatalf("%v: %v, acceptable: %t", &m, err, acceptable)
		}
		if err == nil {
			compare(t, &view, &m)
		}
	})
}

// acceptable reports whether an entry may be applied according to entry.proto.
func acceptable(m *logpb.Entry) bool {
	named := func(k *logpb.Key) bool {
		return k.GetResource() != "" && k.GetName() != "" && !strings.Contains(k.GetResource()+k.GetNamespace()+k.GetName(), "\x00")
	}
	fits := func(o *logpb.Object) bool { return int(o.GetVersionOffset()) <= len(o.GetValue()) }
	if m.GetFormat() != 1 {
		return false
	}
	switch op := m.GetOp().(type) {
	case *logpb.Entry_Create:
		c := op.Create
		return named(c.GetKey()) && (c.GetGuard() == nil || named(c.GetGuard())) && c.GetObject() != nil && fits(c.GetObject())
	case *logpb.Entry_Update:
		u := op.Update
		return named(u.GetKey()) && u.GetObject() != nil && fits(u.GetObject()) && fits(u.GetPrevious())
	case *logpb.Entry_Delete:
		d := op.Delete
		return named(d.GetKey()) && d.GetFinal() != nil && fits(d.GetFinal()) && fits(d.GetPrevious())
	default:
		return op != nil
	}
}

func compare(t *testing.T, view *Entry, m *logpb.Entry) {
	t.Helper()
	var want Entry
	var precondition state.Precondition
	want.format, want.time = m.GetFormat(), m.GetTimeUnixNano()
	switch op := m.GetOp().(type) {
	case *logpb.Entry_Create:
		c := op.Create
		want.op, want.key, want.guard, want.object = OpCreate, wantKey(c.GetKey()), wantKey(c.GetGuard()), wantContent(c.GetObject())
		precondition = state.Precondition{Creates: true}
		if g := c.GetGuard(); g != nil {
			precondition.Guard = state.NewKey(g.GetResource(), g.GetNamespace(), g.GetName())
		}
	case *logpb.Entry_Update:
		u := op.Update
		want.op, want.key, want.object, want.previous = OpUpdate, wantKey(u.GetKey()), wantContent(u.GetObject()), wantContent(u.GetPrevious())
		want.previousVersion, want.uid = u.GetPreviousVersion(), []byte(u.GetUid())
		precondition = state.Precondition{Version: u.GetPreviousVersion(), UID: u.GetUid()}
	case *logpb.Entry_Delete:
		d := op.Delete
		want.op, want.key, want.object, want.previous = OpDelete, wantKey(d.GetKey()), wantContent(d.GetFinal()), wantContent(d.GetPrevious())
		want.previousVersion, want.uid, want.attributesKept = d.GetPreviousVersion(), []byte(d.GetUid()), d.GetAttributesKept()
		precondition = state.Precondition{Version: d.GetPreviousVersion(), UID: d.GetUid()}
	case *logpb.Entry_Init:
		want.op, want.clusterID = OpInit, []byte(op.Init.GetClusterId())
	case *logpb.Entry_Pin:
		want.op = OpPin
	}
	if diff := cmp.Diff(want, *view, cmp.AllowUnexported(Entry{}, key{}, content{}), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("the view differs (-protobuf +view):\n%s", diff)
	}
	if view.concernsNoObject() {
		return
	}
	precondition.Key = state.NewKey(string(want.key.resource), string(want.key.namespace), string(want.key.name))
	if got := view.Precondition(); got != precondition {
		t.Fatalf("precondition %+v, want %+v", got, precondition)
	}
}

func wantKey(k *logpb.Key) key {
	return key{[]byte(k.GetResource()), []byte(k.GetNamespace()), []byte(k.GetName()), k != nil}
}

func wantContent(o *logpb.Object) content {
	return content{
		o.GetValue(), o.GetVersionOffset(), []byte(o.GetUid()), []byte(o.GetLabels()), []byte(o.GetFields()), o.GetSealed(), o != nil,
	}
}

// DecodeProposal refuses such text in each string of each operation, where Decode accepts it. A
// value is bytes, which may have any content.
func TestDecodeProposal_refuses_text_that_is_not_UTF8(t *testing.T) {
	texts := map[string]int{}
	for _, e := range operations() {
		data := encoded(t, e)
		if _, err := DecodeProposal(data); err != nil {
			t.Fatal(err)
		}
		for i := range data {
			before := data[i]
			if before < ' ' || before > '~' { // not part of a string
				continue
			}
			data[i] = 0xff
			_, lax := Decode(data)
			_, err := DecodeProposal(data)
			var m logpb.Entry
			if library := proto.Unmarshal(data, &m); lax == nil && (err == nil) != (library == nil) {
				t.Errorf("%v, byte %d: %v, the protobuf library says %v", e, i, err, library)
			}
			if lax == nil && err != nil {
				texts[string(before)]++
			}
			data[i] = before
		}
	}
	if len(texts) < 10 {
		t.Errorf("few texts were refused: %v", texts)
	}
}

func TestDecode_allocates_nothing(t *testing.T) {
	for _, e := range operations() {
		data := encoded(t, e)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := DecodeProposal(data); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%v takes %v allocations", e, n)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, size := range []int{1 << 10, 256 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			e := operations()[3]
			e.GetUpdate().GetObject().Value = make([]byte, size)
			data := encoded(b, e)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeProposal(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
