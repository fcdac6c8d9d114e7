package fsm

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// A snapshot is a stream of records, each a protobuf message preceded by its length as a varint:
// one logpb.SnapshotHeader, which has the number of objects, then the objects in the order of their
// keys, and one logpb.SnapshotTrailer. The checksum in the trailer covers all bytes before the
// trailer's length.

// snapshotFormat is the only format of snapshots that this build knows.
const snapshotFormat = 1

// maxRecordBytes bounds the memory that a damaged length can make a reader allocate. The largest
// record is an object, or the header with all failed entries of the state.
const maxRecordBytes = 64 << 20

// ErrSnapshotCorrupt reports a snapshot that is damaged, truncated, or of an unknown format. The
// error that wraps it has the details.
var ErrSnapshotCorrupt = errors.New("snapshot is corrupt")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrSnapshotCorrupt, fmt.Errorf(format, args...))
}

// checksum returns the checksum sum updated with b.
func checksum(sum uint32, b []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), b)
}
