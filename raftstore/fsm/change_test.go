package fsm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

// TestLastChange: a snapshot tells when an object has changed last, which is no part of what nodes
// must agree on: nodes that have read the snapshot of an older build know a later entry.
func TestLastChange(t *testing.T) {
	tree := filled(t, 20, 100)
	changed := tree.Index() - 1 // the last entry has failed
	tree.Advance(1000)
	root := tree.Publish()
	if root.Changed() != changed {
		t.Fatalf("changed at %d, want %d", root.Changed(), changed)
	}
	read := func(stream []byte) *state.Root {
		t.Helper()
		tree, err := fsm.ReadSnapshot(bytes.NewReader(stream))
		if err != nil {
			t.Fatal(err)
		}
		return tree.Publish()
	}
	content := snapshotOf(t, root)
	if got := read(content); got.Changed() != changed || got.At(changed) == nil || got.At(changed-1) != nil {
		t.Errorf("read again: changed at %d, want %d", got.Changed(), changed)
	}

	var header logpb.SnapshotHeader
	rest := bytes.NewReader(content)
	if err := protodelim.UnmarshalFrom(rest, &header); err != nil {
		t.Fatal(err)
	}
	objects := content[len(content)-rest.Len() : len(content)-len(trailer(t, content))]
	with := func(changed *uint64) []byte {
		header.Changed = changed
		return sealed(t, append(records(t, &header), objects...))
	}
	older := read(with(nil))
	if older.Changed() != 1000 || older.At(999) != nil {
		t.Errorf("of an older build: changed at %d, want 1000", older.Changed())
	}
	if fsm.Checksum(older) != fsm.Checksum(root) {
		t.Error("the checksum tells which snapshot a node has read")
	}
	for name, wrong := range map[string]uint64{"after the state": 1001, "before an object": changed - 1} {
		if _, err := fsm.ReadSnapshot(bytes.NewReader(with(proto.Uint64(wrong)))); !errors.Is(err, fsm.ErrSnapshotCorrupt) {
			t.Errorf("changed %s: %v", name, err)
		}
	}

	var forked bytes.Buffer
	f := fsm.Fork{ClusterID: "c2", Gap: 100}
	if err := fsm.WriteFork(&forked, root, f); err != nil {
		t.Fatal(err)
	}
	if got := read(forked.Bytes()); got.Changed() != 1100 {
		t.Errorf("a fork at 1100 says that entries after %d, of which clients may know others, changed nothing", got.Changed())
	}
}

// trailer returns the last record of a snapshot.
func trailer(t *testing.T, content []byte) []byte {
	t.Helper()
	r := bytes.NewReader(content)
	for {
		size, err := binary.ReadUvarint(r)
		if err != nil {
			t.Fatal(err)
		}
		if r.Len() == int(size) {
			return content[len(content)-int(size)-1:]
		}
		if _, err := r.Seek(int64(size), io.SeekCurrent); err != nil {
			t.Fatal(err)
		}
	}
}
