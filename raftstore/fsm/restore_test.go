package fsm_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/fsm"
)

// snapshotObjects returns the objects of a snapshot that takes many batches, and its header.
func snapshotObjects(count int) (*logpb.SnapshotHeader, []*logpb.SnapshotObject) {
	objects := make([]*logpb.SnapshotObject, count)
	for i := range objects {
		version := uint64(i + 1)
		objects[i] = &logpb.SnapshotObject{
			Key: &logpb.Key{Resource: "pods", Name: fmt.Sprintf("name-%06d", i)}, Version: version, Uid: fmt.Sprint("uid-", i),
			Value: fmt.Appendf(nil, "%d%s", version, strings.Repeat("x", i%1500)), Labels: fmt.Sprint("app=", i%7), Sealed: i%3 == 0,
		}
	}
	return &logpb.SnapshotHeader{Format: 1, Index: uint64(count) + 10, Objects: uint64(count), Changed: proto.Uint64(uint64(count))}, objects
}

func stream(t *testing.T, header *logpb.SnapshotHeader, objects []*logpb.SnapshotObject) []byte {
	t.Helper()
	messages := []proto.Message{header}
	for _, o := range objects {
		messages = append(messages, o)
	}
	return records(t, messages...)
}

// readerUntil is a reader that is not read after an end.
type readerUntil struct {
	io.Reader
	ended *atomic.Bool
	t     *testing.T
}

func (r readerUntil) Read(b []byte) (int, error) {
	if r.ended.Load() {
		r.t.Error("ReadSnapshot reads after it has returned")
	}
	return r.Reader.Read(b)
}

// TestReadSnapshot_reports_the_first_of_several_errors makes two objects of a snapshot wrong, which
// goroutines decode side by side, and checks that these end.
func TestReadSnapshot_reports_the_first_of_several_errors(t *testing.T) {
	const count = 4000 // of some 3 MB
	broken := errors.New("disk on fire")
	for _, first := range []int{1, 5, 150, 151, 700, 2000, count - 2} {
		for _, second := range []int{first + 1, min(first+400, count-1), count - 1} {
			for name, spoil := range map[string]func(o *logpb.SnapshotObject) string{
				"version not in its place": func(o *logpb.SnapshotObject) string {
					o.Value = []byte("no version")
					return fmt.Sprintf("object %d: version %d is not in its place", o.GetVersion(), o.GetVersion())
				},
				"not in order": func(o *logpb.SnapshotObject) string {
					o.Key.Name = "first"
					return fmt.Sprintf("object %d: key", o.GetVersion())
				},
			} {
				synctest.Test(t, func(t *testing.T) {
					header, objects := snapshotObjects(count)
					says := spoil(objects[first])
					objects[second].Key = nil
					content := stream(t, header, objects)
					for _, r := range []io.Reader{bytes.NewReader(content), io.MultiReader(bytes.NewReader(content), iotest.ErrReader(broken))} {
						var ended atomic.Bool
						_, err := fsm.ReadSnapshot(readerUntil{r, &ended, t})
						ended.Store(true)
						if !errors.Is(err, fsm.ErrSnapshotCorrupt) || !strings.Contains(err.Error(), says) {
							t.Fatalf("%s, objects %d and %d: got %v, want %q", name, first+1, second+1, err, says)
						}
					}
				})
			}
		}
	}
}

// TestReadSnapshot_of_many_batches compares what is read with what was written, and cuts the stream
// in several places.
func TestReadSnapshot_of_many_batches(t *testing.T) {
	header, objects := snapshotObjects(3000)
	good := stream(t, header, objects)
	var read bytes.Buffer
	if _, err := fsm.ReadSnapshot(bytes.NewReader(good)); err == nil || !strings.Contains(err.Error(), "ends before its trailer does") {
		t.Fatalf("without a trailer: %v", err)
	}
	good = sealed(t, good)
	for _, processors := range []int{1, 2, 8} {
		previous := runtime.GOMAXPROCS(processors)
		tree, err := fsm.ReadSnapshot(bytes.NewReader(good))
		runtime.GOMAXPROCS(previous)
		if err != nil {
			t.Fatal(err)
		}
		read.Reset()
		if err := fsm.WriteSnapshot(&read, tree.Publish()); err != nil || !bytes.Equal(read.Bytes(), good) {
			t.Fatalf("with %d processors: read and written again, it differs (%v)", processors, err)
		}
	}
	for cut := 0; cut < len(good); cut += len(good) / 40 {
		if _, err := fsm.ReadSnapshot(bytes.NewReader(good[:cut])); !errors.Is(err, fsm.ErrSnapshotCorrupt) {
			t.Fatalf("cut after %d of %d bytes: %v", cut, len(good), err)
		}
		broken := errors.New("disk on fire")
		if _, err := fsm.ReadSnapshot(io.MultiReader(bytes.NewReader(good[:cut]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
			t.Fatalf("failed after %d of %d bytes: %v", cut, len(good), err)
		}
	}
}

// zeros is a stream of zeros, which are empty records. It counts them.
type zeros struct{ read int }

func (z *zeros) Read(b []byte) (int, error) {
	if z.read += len(b); z.read > 8<<20 {
		return 0, errors.New("read on and on")
	}
	clear(b)
	return len(b), nil
}

// TestReadSnapshot_of_empty_records reads a snapshot that claims very many objects and has none.
func TestReadSnapshot_of_empty_records(t *testing.T) {
	header := records(t, &logpb.SnapshotHeader{Format: 1, Index: 9, Objects: 1 << 40})
	rest := new(zeros)
	_, err := fsm.ReadSnapshot(io.MultiReader(bytes.NewReader(header), rest))
	if !errors.Is(err, fsm.ErrSnapshotCorrupt) || !strings.Contains(err.Error(), "object 1: incomplete key") || rest.read > 4<<20 {
		t.Fatalf("%v, after %d bytes", err, rest.read)
	}
}
