package fsm

import (
	"bufio"
	"fmt"
	"io"
	"runtime"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/state"
)

// Bounds of the write buffer of a snapshot, whose size follows that of the state.
const (
	minWriteBufferBytes = 4 << 10
	writeBufferBytes    = 256 << 10
)

// yieldEvery is the number of objects after which a snapshot lets other goroutines run, which takes
// less than a hundredth of its time. Without that, those that become runnable on its processor wait
// until the scheduler preempts it, after 10 ms.
const yieldEvery = 64

// WriteSnapshot writes a state to w. It takes no locks and needs little memory. Every node writes
// the same bytes for the same state and the same Root.Changed.
func WriteSnapshot(w io.Writer, r *state.Root) error {
	h := header(r)
	h.Changed = proto.Uint64(r.Changed())
	return write(w, h, r, unchanged)
}

func unchanged(o *state.Object) *state.Object { return o }

// write writes a snapshot with header h and the objects that change returns for those of the state.
func write(w io.Writer, h *logpb.SnapshotHeader, r *state.Root, change func(*state.Object) *state.Object) error {
	size := min(writeBufferBytes, max(minWriteBufferBytes, r.Bytes()))
	out := &recordWriter{w: bufio.NewWriterSize(w, int(size))}
	if err := out.message(h); err != nil {
		return fmt.Errorf("write snapshot header: %w", err)
	}
	var err error
	written := 0
	r.Ascend("", "", func(o *state.Object) bool {
		if written++; written%yieldEvery == 0 {
			runtime.Gosched()
		}
		// gofail: var snapshotMiddle struct{}
		err = out.object(change(o))
		return err == nil
	})
	if err != nil {
		return fmt.Errorf("write snapshot objects: %w", err)
	}
	trailer := &logpb.SnapshotTrailer{Objects: uint64(r.Len()), Crc32C: out.sum}
	if err := out.message(trailer); err != nil {
		return fmt.Errorf("write snapshot trailer: %w", err)
	}
	if err := out.w.Flush(); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

// header returns the header with everything on which nodes must agree.
func header(r *state.Root) *logpb.SnapshotHeader {
	failed := r.Failed()
	h := &logpb.SnapshotHeader{
		Format:      snapshotFormat,
		Index:       r.Index(),
		ClusterId:   r.ClusterID(),
		Objects:     uint64(r.Len()),
		Failed:      make([]uint64, 0, failed.Len()),
		FailedFloor: failed.Floor(),
	}
	last := failed.Floor()
	for index := range failed.All() {
		h.Failed = append(h.Failed, index-last)
		last = index
	}
	var mark, since uint64
	for index, seconds := range r.Times().All() {
		h.TimeIndex = append(h.TimeIndex, index-mark)
		h.TimeSeconds = append(h.TimeSeconds, uint64(seconds)-since)
		mark, since = index, uint64(seconds)
	}
	return h
}

// recordWriter writes records and their checksum.
type recordWriter struct {
	w          *bufio.Writer
	sum        uint32
	head, tail []byte // reused
}

func (w *recordWriter) write(b []byte) error {
	w.sum = checksum(w.sum, b)
	_, err := w.w.Write(b)
	return err
}

func (w *recordWriter) message(m proto.Message) error {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return err
	}
	w.head = protowire.AppendVarint(w.head[:0], uint64(len(b)))
	if err := w.write(w.head); err != nil {
		return err
	}
	return w.write(b)
}

// object writes a logpb.SnapshotObject without building one and without copying the value.
func (w *recordWriter) object(o *state.Object) error {
	tail := w.tail[:0]
	tail = appendUint(tail, 3, uint64(o.VersionOffset))
	tail = appendUint(tail, 4, o.Version)
	tail = appendUint(tail, 5, o.Created)
	tail = appendString(tail, 6, o.UID)
	tail = appendString(tail, 7, string(o.Labels))
	tail = appendString(tail, 8, string(o.Fields))
	if o.Sealed {
		tail = appendUint(tail, 9, 1)
	}
	w.tail = tail

	resource, namespace, name := o.Key.Split()
	keySize := sizeString(resource) + sizeString(namespace) + sizeString(name)
	size := 1 + protowire.SizeBytes(keySize) + len(tail)
	if len(o.Value) > 0 {
		size += 1 + protowire.SizeBytes(len(o.Value))
	}
	head := protowire.AppendVarint(w.head[:0], uint64(size))
	head = protowire.AppendTag(head, 1, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(keySize))
	head = appendString(head, 1, resource)
	head = appendString(head, 2, namespace)
	head = appendString(head, 3, name)
	if len(o.Value) > 0 {
		head = protowire.AppendTag(head, 2, protowire.BytesType)
		head = protowire.AppendVarint(head, uint64(len(o.Value)))
	}
	w.head = head

	for _, b := range [][]byte{head, o.Value, tail} {
		if err := w.write(b); err != nil {
			return err
		}
	}
	return nil
}

// A field with its zero value is omitted, as proto3 requires. All field numbers here take one byte.

func appendUint(b []byte, number protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}

func appendString(b []byte, number protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), s)
}

func sizeString(s string) int {
	if s == "" {
		return 0
	}
	return 1 + protowire.SizeBytes(len(s))
}
