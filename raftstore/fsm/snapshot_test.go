package fsm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

// filled returns a state of n pods and n configmaps, a failed entry and a cluster id.
func filled(t testing.TB, n, size int) *state.Tree {
	t.Helper()
	tree := state.NewTree()
	fsm.Apply(tree, 1, marshal(t, &logpb.Entry{Format: 1, Op: &logpb.Entry_Init{Init: &logpb.Init{ClusterId: "c1"}}}))
	index := uint64(1)
	for i := range n {
		for _, resource := range []string{"pods", "configmaps"} {
			index++
			fsm.Apply(tree, index, marshal(t, createEntry(resource, fmt.Sprintf("ns-%d", i%3), fmt.Sprintf("name-%05d", i), size)))
		}
	}
	again := marshal(t, createEntry("pods", "ns-0", "name-00000", size))
	if result, _, _ := fsm.Apply(tree, index+1, again); result.Err == nil {
		t.Fatal("a second create of the object succeeded")
	}
	return tree
}

// The generated code decodes the output of the hand-written encoder.
func TestSnapshot_matches_the_proto(t *testing.T) {
	root := filled(t, 4, 100).Publish()
	r := bytes.NewReader(snapshotOf(t, root))
	var header logpb.SnapshotHeader
	if err := protodelim.UnmarshalFrom(r, &header); err != nil {
		t.Fatal(err)
	}
	if header.GetFormat() != 1 || header.GetIndex() != 10 || header.GetClusterId() != "c1" || header.GetObjects() != 8 ||
		!slices.Equal(header.GetFailed(), []uint64{10}) {
		t.Fatalf("header is %v", &header)
	}
	root.Ascend("", "", func(o *state.Object) bool {
		var m logpb.SnapshotObject
		if err := protodelim.UnmarshalFrom(r, &m); err != nil {
			t.Fatal(err)
		}
		resource, namespace, name := o.Key.Split()
		want := &logpb.SnapshotObject{
			Key:   &logpb.Key{Resource: resource, Namespace: namespace, Name: name},
			Value: o.Value, VersionOffset: o.VersionOffset, Version: o.Version, Created: o.Created, Uid: o.UID,
			Labels: string(o.Labels), Fields: string(o.Fields), Sealed: o.Sealed,
		}
		if !proto.Equal(want, &m) {
			t.Fatalf("object is %v, want %v", &m, want)
		}
		return true
	})
	var trailer logpb.SnapshotTrailer
	if err := protodelim.UnmarshalFrom(r, &trailer); err != nil || trailer.GetObjects() != 8 || r.Len() != 0 {
		t.Fatalf("trailer is %v, %v, with %d bytes after it", &trailer, err, r.Len())
	}
}

func TestReadSnapshot_with_reads_of_any_size(t *testing.T) {
	want := snapshotOf(t, filled(t, 30, 200_000).Publish()) // larger than the reader's buffer in total
	large := createEntry("pods", "z", "large", 3<<20)
	tree, err := fsm.ReadSnapshot(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	fsm.Apply(tree, 1000, marshal(t, large)) // one record larger than the buffer
	want = snapshotOf(t, tree.Publish())
	for name, r := range map[string]io.Reader{
		"whole": bytes.NewReader(want), "half": iotest.HalfReader(bytes.NewReader(want)),
		"data with EOF": iotest.DataErrReader(bytes.NewReader(want)),
	} {
		tree, err := fsm.ReadSnapshot(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(want, snapshotOf(t, tree.Publish())) {
			t.Fatalf("%s: read and written again, it differs", name)
		}
	}
}

func TestReadSnapshot_detects_truncation_and_flipped_bytes(t *testing.T) {
	good := snapshotOf(t, filled(t, 2, 10).Publish())
	for n := range good {
		if _, err := fsm.ReadSnapshot(bytes.NewReader(good[:n])); !errors.Is(err, fsm.ErrSnapshotCorrupt) {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(good), err)
		}
		for _, bit := range []byte{1, 0x80} {
			bad := bytes.Clone(good)
			bad[n] ^= bit
			if _, err := fsm.ReadSnapshot(bytes.NewReader(bad)); !errors.Is(err, fsm.ErrSnapshotCorrupt) {
				t.Fatalf("byte %d of %d changed: %v", n, len(good), err)
			}
		}
	}
}

func TestReadSnapshot_errors(t *testing.T) {
	header := &logpb.SnapshotHeader{Format: 1, Index: 9, Objects: 2}
	object := func(name, value string, version uint64) *logpb.SnapshotObject {
		return &logpb.SnapshotObject{Key: &logpb.Key{Resource: "pods", Name: name}, Value: []byte(value), Version: version}
	}
	good := snapshotOf(t, filled(t, 1, 10).Publish())
	cases := map[string]struct {
		stream []byte
		says   string
	}{
		"empty":          {nil, "ends before its header does"},
		"newer format":   {records(t, &logpb.SnapshotHeader{Format: 2}), "unknown format 2"},
		"cut objects":    {records(t, header, object("a", "5", 5)), "ends before object 2 of 2 does"},
		"wrong order":    {records(t, header, object("b", "5", 5), object("a", "6", 6)), "after"},
		"no key":         {records(t, header, &logpb.SnapshotObject{Value: []byte("5"), Version: 5}), "incomplete key"},
		"not in place":   {records(t, header, object("a", "7", 5)), "version 5 is not in its place"},
		"future":         {records(t, header, object("a", "10", 10)), "version 10 beyond index 9"},
		"bad failures":   {records(t, &logpb.SnapshotHeader{Format: 1, Index: 9, Failed: []uint64{3, 0}}), "failed entry 3 after 3"},
		"late failures":  {records(t, &logpb.SnapshotHeader{Format: 1, Index: 9, Failed: []uint64{10}}), "beyond index 9"},
		"trailing bytes": {append(bytes.Clone(good), 0), "more after the trailer"},
		"huge record":    {binary.AppendUvarint(nil, 1<<40), "larger than"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := fsm.ReadSnapshot(bytes.NewReader(c.stream))
			if !errors.Is(err, fsm.ErrSnapshotCorrupt) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want %q", err, c.says)
			}
		})
	}
}

func records(t testing.TB, messages ...proto.Message) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, m := range messages {
		if _, err := protodelim.MarshalTo(&b, m); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// An I/O error is not a corrupt snapshot.
func TestReadSnapshot_returns_read_errors(t *testing.T) {
	good := snapshotOf(t, filled(t, 1, 10).Publish())
	broken := errors.New("disk on fire")
	for n := range good {
		_, err := fsm.ReadSnapshot(io.MultiReader(bytes.NewReader(good[:n]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || errors.Is(err, fsm.ErrSnapshotCorrupt) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

func TestWriteSnapshot_returns_write_errors(t *testing.T) {
	root := filled(t, 100, 10_000).Publish()
	broken := errors.New("disk full")
	for _, after := range []int{0, 1, 3} {
		if err := fsm.WriteSnapshot(&failingWriter{after, broken}, root); !errors.Is(err, broken) {
			t.Fatalf("after %d writes: %v", after, err)
		}
	}
}

type failingWriter struct {
	left int
	err  error
}

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, w.err
	}
	return len(b), nil
}

func TestScanSnapshot_gives_the_objects_of_one_collection(t *testing.T) {
	root := filled(t, 50, 100).Publish()
	stream := snapshotOf(t, root)
	for _, p := range []state.Prefix{
		"", state.ResourcePrefix("configmaps"), state.ResourcePrefix("pods"), state.NamespacePrefix("configmaps", "ns-1"),
		state.ResourcePrefix("aaa"), state.ResourcePrefix("nodes"), state.ResourcePrefix("zzz"),
	} {
		var want, got []flatObject
		root.Ascend(p, "", func(o *state.Object) bool { want = append(want, flattenObject(o)); return true })
		err := fsm.ScanSnapshot(bytes.NewReader(stream), p, func(o *state.Object) error {
			got = append(got, flattenObject(o))
			return nil
		})
		if err != nil || !slices.Equal(want, got) {
			t.Fatalf("%q: %d objects, %v; want %d", p, len(got), err, len(want))
		}
	}
	stop := errors.New("stop")
	if err := fsm.ScanSnapshot(bytes.NewReader(stream), "", func(*state.Object) error { return stop }); err != stop {
		t.Fatalf("got %v", err)
	}
	nothing := func(*state.Object) error { return nil }
	err := fsm.ScanSnapshot(bytes.NewReader(stream[:len(stream)-1]), "", nothing)
	if !errors.Is(err, fsm.ErrSnapshotCorrupt) {
		t.Fatalf("scan of a truncated snapshot to its end: %v", err)
	}
}

// sealed appends the trailer that matches a stream, so that fuzzing gets past the checksum.
func sealed(t testing.TB, stream []byte) []byte {
	t.Helper()
	var header logpb.SnapshotHeader
	if err := protodelim.UnmarshalFrom(bytes.NewReader(stream), &header); err != nil {
		return stream
	}
	sum := crc32.Checksum(stream, crc32.MakeTable(crc32.Castagnoli))
	return append(bytes.Clone(stream), records(t, &logpb.SnapshotTrailer{Objects: header.GetObjects(), Crc32C: sum})...)
}

func FuzzReadSnapshot(f *testing.F) {
	f.Add(snapshotOf(f, state.NewTree().Publish()))
	f.Add(snapshotOf(f, filled(f, 2, 10).Publish()))
	f.Add(records(f, &logpb.SnapshotHeader{Format: 1, Index: 9, Objects: 2, Failed: []uint64{3, 4}, FailedFloor: 1}))
	f.Add(records(f, &logpb.SnapshotHeader{Format: 1, Index: 9, Objects: 1}, &logpb.SnapshotObject{
		Key: &logpb.Key{Resource: "pods", Name: "x"}, Value: []byte("5"), Version: 5,
	}))
	f.Fuzz(func(t *testing.T, stream []byte) {
		tree, err := fsm.ReadSnapshot(bytes.NewReader(stream))
		if err != nil {
			tree, err = fsm.ReadSnapshot(bytes.NewReader(sealed(t, stream)))
		}
		if err != nil {
			return
		}
		again, err := fsm.ReadSnapshot(bytes.NewReader(snapshotOf(t, tree.Publish())))
		if err != nil || again.Index() != tree.Index() {
			t.Fatalf("the state read can't be written and read again: %v", err)
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	const n, size = 5_000, 7 << 10 // twice 5,000 objects
	root := filled(b, n, size).Publish()
	stream := snapshotOf(b, root)
	b.Run("write", func(b *testing.B) {
		b.SetBytes(int64(len(stream)))
		b.ReportAllocs()
		for b.Loop() {
			if err := fsm.WriteSnapshot(io.Discard, root); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(stream)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := fsm.ReadSnapshot(bytes.NewReader(stream)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(int64(len(stream)))
		b.ReportAllocs()
		for b.Loop() {
			err := fsm.ScanSnapshot(bytes.NewReader(stream), state.NamespacePrefix("pods", "zzz"), func(*state.Object) error { return nil })
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
