package schema

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// checkStored compares the protobuf made from a stored value with that made from the decoded
// object.
func checkStored(t rapid.TB, k *Kind, value []byte) {
	t.Helper()
	o, err := k.DecodeStored(value)
	if err != nil {
		t.Fatal(err)
	}
	raw := o.AppendProtobuf(nil)
	want := AppendEnvelope([]byte("x"), k.APIVersion, k.Kind, raw)
	if got, err := k.AppendProtobufEnvelope([]byte("x"), value); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%v\ngot  %q\nwant %q", err, got, want)
	}
	want = append(AppendListItemHead([]byte("x"), len(raw)), raw...)
	if got, err := k.AppendProtobufItem([]byte("x"), value); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%v\ngot  %q\nwant %q", err, got, want)
	}
}

// TestProtobufOfStored_B20 encodes the golden objects of all kinds several times, so that decoders
// reuse chunks that other objects used before.
func TestProtobufOfStored_B20(t *testing.T) {
	t.Parallel()
	cat := engine(t)
	for range 3 {
		for _, k := range withProtobuf(cat) {
			if k.renames {
				continue // its golden files are those of another kind
			}
			text, err := os.ReadFile(filepath.Join("testdata", "golden", "full", strings.TrimSuffix(k.File, ".yaml")+".json"))
			if err != nil {
				t.Fatal(err)
			}
			o, _, err := k.Decode(text)
			if err != nil {
				t.Fatal(err)
			}
			checkStored(t, k, o.AppendJSON(nil))
			checkStored(t, k, k.New().AppendJSON(nil))
		}
	}
}

// TestProtobufOfAnyStored_B20 is TestProtobufOfStored_B20 with random objects.
func TestProtobufOfAnyStored_B20(t *testing.T) {
	cat := engine(t)
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(withProtobuf(cat)).Draw(t, "kind")
		for range 2 {
			o := &Object{Kind: k, root: drawMessage(t, k.Message, 0)}
			checkStored(t, k, o.AppendJSON(nil))
		}
	})
}

// TestProtobufOfLargeStored encodes objects that exceed the chunks and strings that need escapes.
func TestProtobufOfLargeStored(t *testing.T) {
	t.Parallel()
	k := engine(t).Kind("/api/v1", "configmaps")
	for _, n := range []int{0, 1, maxKept / 2, 3 * maxKept, 1} {
		o := k.New()
		data := o.root.Make("data")
		for i := range n {
			data.Put("k" + itoa(i)).SetStr(strings.Repeat("a\"b\n\u2028é\\", i%9))
		}
		data.Put("long").SetStr(strings.Repeat("line\n", maxKeptText/4))
		checkStored(t, k, o.AppendJSON(nil))
	}
}

// TestProtobufOfStoredConcurrently encodes objects of one kind in several goroutines.
func TestProtobufOfStoredConcurrently(t *testing.T) {
	t.Parallel()
	k := engine(t).Kind("/api/v1", "pods")
	value := create(t, k, paddedPod()).Value
	want, err := k.AppendProtobufEnvelope(nil, value)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if got, err := k.AppendProtobufEnvelope(nil, value); err != nil || !bytes.Equal(got, want) {
					t.Error("other bytes", err)
				}
			}
		})
	}
	all.Wait()
}

func TestProtobufOfInvalidStored(t *testing.T) {
	t.Parallel()
	k := engine(t).Kind("/api/v1", "pods")
	for name, value := range map[string]string{
		"broken": `{"kind":"Pod","metadata":{"labels":{"a":"b`, "empty": "", "null": "null",
		"other kind": `{"kind":"Secret"}`, "wrong type": `{"kind":"Pod","metadata":7}`,
	} {
		if got, err := k.AppendProtobufItem([]byte("x"), []byte(value)); err == nil || string(got) != "x" {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

// TestPooledDecodersRetainNothing checks that a pooled decoder retains no stored value.
func TestPooledDecodersRetainNothing(t *testing.T) {
	t.Parallel()
	k := engine(t).Kind("/api/v1", "pods")
	for _, value := range [][]byte{create(t, k, paddedPod()).Value, []byte(`{"kind":"Pod","metadata":{"labels":{"a":"b","c`)} {
		d := &decoder{}
		d.reset()
		_, _ = d.stored(k, value) // also if it fails
		d.reset()
		for _, v := range d.values[:cap(d.values)] {
			if v != (Value{}) {
				t.Fatalf("value %q", v.str)
			}
		}
		for _, kept := range [][]string{d.names[:cap(d.names)], d.keys[:cap(d.keys)]} {
			for _, s := range kept {
				if s != "" {
					t.Fatalf("name %q", s)
				}
			}
		}
		for _, kept := range [][]*Value{d.items[:cap(d.items)], d.slots[:cap(d.slots)]} {
			for _, v := range kept {
				if v != nil {
					t.Fatalf("pointer to %q", v.str)
				}
			}
		}
		if d.s != "" || d.pathRoom != [len(d.pathRoom)]decodeStep{} || len(d.problems.List()) > 0 || d.taken != 0 {
			t.Errorf("%+v", d)
		}
	}
}

// TestProtobufOfStoredAllocatesNothing checks that neither decoding with a reused decoder nor
// encoding into a large enough buffer allocates. It does not use the pool, which drops decoders at
// random under the race detector.
func TestProtobufOfStoredAllocatesNothing(t *testing.T) {
	cat := engine(t)
	for _, tc := range []struct {
		plural string
		body   []byte
	}{
		{"pods", paddedPod()}, {"configmaps", configMap1K()},
		{"configmaps", []byte(`{"metadata":{"name":"s","namespace":"bench"},"data":{"a":"two\nlines","b":"\"quoted\""}}`)},
	} {
		k := cat.Kind("/api/v1", tc.plural)
		value := create(t, k, tc.body).Value
		dst, d := make([]byte, 0, 2*len(value)), &decoder{}
		if n := testing.AllocsPerRun(20, func() {
			d.reset()
			root, err := d.stored(k, value)
			if err != nil {
				t.Fatal(err)
			}
			writeWire(dst, k.Message.wireTop.size(root.box.kids), k.Message.wireTop, root.box.kids)
		}); n > 0 {
			t.Errorf("%s: %v allocations", tc.plural, n)
		}
	}
}
