package fsm

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// A snapshot is a stream of records, each a protobuf message after its length as a varint: one
// logpb.SnapshotHeader, which says how many objects follow, the objects in the order of their keys,
// and a logpb.SnapshotTrailer, after which nothing follows. The checksum in the trailer covers all
// bytes before the trailer's length.

// snapshotFormat is the only format of snapshots so far.
const snapshotFormat = 1

// maxRecordBytes bounds the memory that a damaged length can make a reader allocate. The largest
// record is an object, or the header with all failed entries of the state.
const maxRecordBytes = 64 << 20

// ErrSnapshotCorrupt reports a snapshot that is damaged, cut off, or of an unknown format. The
// error that wraps it says how.
var ErrSnapshotCorrupt = errors.New("snapshot is corrupt")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrSnapshotCorrupt, fmt.Errorf(format, args...))
}

// checksum adds bytes to the checksum of a stream.
func checksum(sum uint32, b []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), b)
}
