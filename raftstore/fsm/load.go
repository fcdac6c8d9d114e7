package fsm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore/state"
)

var errTimes = errors.New("as many times as entries are wanted")

func (s *snapshotReader) loadTimes(loader *state.Loader) error {
	indexes, seconds := s.header.GetTimeIndex(), s.header.GetTimeSeconds()
	if len(indexes) != len(seconds) {
		return errTimes
	}
	var index, at uint64
	for i := range indexes {
		index, at = index+indexes[i], at+seconds[i]
		if err := loader.AddTime(index, int64(at)); err != nil {
			return err
		}
	}
	return nil
}

// Summary describes a snapshot.
type Summary struct {
	Index, Objects uint64
	ClusterID      string
}

// CheckSnapshot reads a snapshot to its end and checks each record and the checksum, without
// keeping the objects.
func CheckSnapshot(r io.Reader) (Summary, error) {
	s, err := openSnapshot(r)
	if err != nil {
		return Summary{}, err
	}
	for {
		ok, err := s.next()
		if err != nil {
			return Summary{}, err
		}
		if !ok {
			return Summary{Index: s.header.GetIndex(), Objects: s.read, ClusterID: s.header.GetClusterId()}, nil
		}
	}
}

// ScanSnapshot calls fn with the objects of a collection in a snapshot, in the order of their keys.
// It stops at the first key after the collection, without verifying the checksum. If there is no
// such key, it reads to the end and verifies the checksum. It returns an error of fn unchanged.
func ScanSnapshot(r io.Reader, p state.Prefix, fn func(*state.Object) error) error {
	s, err := openSnapshot(r)
	if err != nil {
		return err
	}
	for {
		ok, err := s.next()
		if err != nil || !ok {
			return err
		}
		if !s.record.key.in(p) {
			if s.record.key.key() > state.Key(p) {
				return nil
			}
			continue
		}
		if err := fn(s.record.object(state.Attributes(s.record.labels))); err != nil {
			return err
		}
	}
}

// snapshotReader reads the records of a snapshot and checks each one.
type snapshotReader struct {
	records *recordReader
	header  *logpb.SnapshotHeader
	read    uint64 // objects
	record  record // the last one
}

func openSnapshot(r io.Reader) (*snapshotReader, error) {
	s := &snapshotReader{records: newRecordReader(r), header: new(logpb.SnapshotHeader)}
	b, err := s.records.next()
	if err != nil {
		return nil, s.unreadable(err, "its header")
	}
	if err := proto.Unmarshal(b, s.header); err != nil {
		return nil, corrupt("header: %w", err)
	}
	if format := s.header.GetFormat(); format != snapshotFormat {
		return nil, corrupt("header: %w %d", errFormat, format)
	}
	return s, nil
}

// next reads the next object into s.record. It returns false after the last object, once the
// trailer has confirmed the content.
func (s *snapshotReader) next() (bool, error) {
	b, err := s.nextRecord()
	if err != nil || b == nil {
		return false, err
	}
	s.record = record{}
	if err := s.record.decode(b, s.header.GetIndex()); err != nil {
		return false, corrupt("object %d: %w", s.read, err)
	}
	return true, nil
}

// nextRecord reads the record of the next object, which is valid until the following call. It
// returns nil after the last object, once the trailer has confirmed the content.
func (s *snapshotReader) nextRecord() ([]byte, error) {
	if s.read == s.header.GetObjects() {
		return nil, s.trailer()
	}
	b, err := s.records.next()
	if err != nil {
		return nil, s.unreadable(err, fmt.Sprintf("object %d of %d", s.read+1, s.header.GetObjects()))
	}
	s.read++
	return b, nil
}

func (s *snapshotReader) trailer() error {
	sum := s.records.sum
	b, err := s.records.next()
	if err != nil {
		return s.unreadable(err, "its trailer")
	}
	var trailer logpb.SnapshotTrailer
	if err := proto.Unmarshal(b, &trailer); err != nil {
		return corrupt("trailer: %w", err)
	}
	if trailer.GetObjects() != s.read {
		return corrupt("trailer: %d objects written, %d read", trailer.GetObjects(), s.read)
	}
	if trailer.GetCrc32C() != sum {
		return corrupt("checksum is %08x, not %08x", sum, trailer.GetCrc32C())
	}
	return s.records.end()
}

// unreadable classifies a read error: a stream that ends early is corrupt, other errors are
// returned.
func (s *snapshotReader) unreadable(err error, where string) error {
	switch {
	case errors.Is(err, ErrSnapshotCorrupt):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return corrupt("it ends before %s does", where)
	default:
		return fmt.Errorf("read snapshot up to %s: %w", where, err)
	}
}

// record is a decoded logpb.SnapshotObject. Its slices are parts of the stream's buffer.
type record struct {
	key key
	content
	version, created uint64
}

// decode decodes the record of an object in the state at index.
func (r *record) decode(message []byte, index uint64) error {
	err := eachField(message, r.take)
	if err != nil {
		return err
	}
	if !r.key.given {
		return errKey
	}
	if int(r.offset) > len(r.value) {
		return errOffset
	}
	var digits [20]byte
	if !bytes.HasPrefix(r.value[r.offset:], strconv.AppendUint(digits[:0], r.version, 10)) {
		return fmt.Errorf("version %d is not in its place", r.version)
	}
	if r.version > index {
		return fmt.Errorf("version %d beyond index %d", r.version, index)
	}
	return nil
}

func (r *record) take(f field) error {
	switch f.number {
	case 1:
		return r.key.take(f)
	case 2:
		return f.toBytes(&r.value)
	case 3:
		return f.toUint32(&r.offset)
	case 4:
		return f.toUint64(&r.version)
	case 5:
		return f.toUint64(&r.created)
	case 6:
		return f.toBytes(&r.uid)
	case 7:
		return f.toBytes(&r.labels)
	case 8:
		return f.toBytes(&r.fields)
	case 9:
		return f.toBool(&r.sealed)
	}
	return nil
}

func (r *record) object(labels state.Attributes) *state.Object {
	of := r.key.with(r.uid, r.fields)
	value := make([]byte, len(r.value))
	copy(value, r.value)
	return &state.Object{
		Key: of.key, UID: of.uid, Version: r.version, Created: r.created,
		Value: value, VersionOffset: r.offset, Sealed: r.sealed,
		Labels: labels, Fields: of.fields,
	}
}
