package segment

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A segment begins with a block of blockBytes, of which only the first blockUsed are used. Numbers
// are little-endian.
//
//	 0  magic
//	 8  checksum  CRC-32C of what follows
//	12  version
//	16  sequence  number of the segment; a new one has a higher number than all before
//	24  base      index of its first entry
//	32  capacity  size of the file while it is active
const (
	blockBytes = 512
	blockUsed  = 40
	magic      = "quoraLOG"
	version    = 1
)

// block is the first block of a segment.
type block struct {
	sequence, base uint64
	capacity       int64
}

func (b block) encode() []byte {
	out := make([]byte, blockBytes)
	copy(out, magic)
	binary.LittleEndian.PutUint32(out[12:], version)
	binary.LittleEndian.PutUint64(out[16:], b.sequence)
	binary.LittleEndian.PutUint64(out[24:], b.base)
	binary.LittleEndian.PutUint64(out[32:], uint64(b.capacity))
	binary.LittleEndian.PutUint32(out[8:], crc32.Checksum(out[12:blockUsed], castagnoli))
	return out
}

// decodeBlock decodes the first block of the segment at path, which should have the given number. A
// segment gets its name only when this block is on the disk, so one that is not whole is damage.
func decodeBlock(in []byte, path string, sequence uint64) (b block, err error) {
	number := func(at int) uint64 { return binary.LittleEndian.Uint64(in[at:]) }
	if len(in) < blockBytes {
		return b, &Damage{Path: path, Reason: fmt.Sprintf("is cut short: %d bytes", len(in))}
	}
	if string(in[:len(magic)]) != magic || binary.LittleEndian.Uint32(in[8:]) != crc32.Checksum(in[12:blockUsed], castagnoli) {
		return b, &Damage{Path: path, Reason: "is not a segment of a log, or its beginning is damaged"}
	}
	if v := binary.LittleEndian.Uint32(in[12:]); v != version {
		return b, fmt.Errorf("%s has version %d, and this build knows version %d: run the build that wrote it, or a newer one", path, v, version)
	}
	b = block{sequence: number(16), base: number(24), capacity: int64(number(32))}
	if b.sequence != sequence || b.base == 0 {
		return b, &Damage{Path: path, Reason: fmt.Sprintf("is damaged: it is segment %d from entry %d on", b.sequence, b.base)}
	}
	return b, nil
}
