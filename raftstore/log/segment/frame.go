package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"github.com/hashicorp/raft"
)

// A frame is an entry on disk. Numbers are little-endian.
//
//	 0  checksum    CRC-32C of all that follows, without the padding
//	 4  data        length of Data in bytes
//	 8  index
//	16  term
//	24  time        AppendedAt in nanoseconds since 1970, noTime if it is zero
//	32  batch       number of the append within the segment, from 1
//	36  left        number of the frames of that append that follow
//	40  extensions  length of Extensions in bytes
//	42  kind        type of the entry
//	43  flags       nilData
//	44  reserved    three zeros
//	47  mark        headerMark
//	48  Data, Extensions
//	    padding     one to eight bytes padByte, to a multiple of eight
//
// Neither the last byte of the header nor that of the frame is ever zero, and the file is zero after
// the last frame. So if a crash has left only the beginning of an append, it shows (torn.go).
const (
	headerBytes = 48
	frameAlign  = 8
	headerMark  = 0xa5
	padByte     = 0xff
	closing     = 0xff // kind of the frame, with index 0, that ends a log which was closed
	nilData     = 1    // Data is nil, which Raft distinguishes from no bytes
	noTime      = math.MinInt64
	// maxDataBytes bounds the data of one entry, far above what package write admits.
	maxDataBytes = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Record is a stored entry. Its slices share memory with other records of the same read.
type Record struct {
	Index, Term      uint64
	Kind             raft.LogType
	Data, Extensions []byte
	nanos            int64
	batch, left      uint32
}

// Time returns when the leader appended the entry, zero if the entry has no time.
func (r *Record) Time() time.Time { return timeOf(r.nanos) }

func (r *Record) isClosing() bool { return r.Index == 0 && r.Kind == closing }

// Into sets the fields of l, which then shares the record's memory.
func (r *Record) Into(l *raft.Log) {
	*l = raft.Log{Index: r.Index, Term: r.Term, Type: r.Kind, Data: r.Data, AppendedAt: r.Time(), Extensions: r.Extensions}
}

// FrameBytes returns the number of bytes that an entry takes on disk, given those of its Data and
// Extensions.
func FrameBytes(n int) int64 {
	return int64(headerBytes+n)/frameAlign*frameAlign + frameAlign
}

func bytesOf(l *raft.Log) int64 { return FrameBytes(len(l.Data) + len(l.Extensions)) }

// checkEntry returns an error for an entry that no frame can hold.
func checkEntry(l *raft.Log) error {
	if len(l.Data) > maxDataBytes || len(l.Extensions) > math.MaxUint16 {
		return fmt.Errorf("entry %d has %d bytes and %d of extensions: too large", l.Index, len(l.Data), len(l.Extensions))
	}
	return nil
}

// appendFrame appends the frame of an entry to b.
func appendFrame(b []byte, l *raft.Log, batch, left uint32) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(l.Data)))
	b = binary.LittleEndian.AppendUint64(b, l.Index)
	b = binary.LittleEndian.AppendUint64(b, l.Term)
	b = binary.LittleEndian.AppendUint64(b, uint64(nanosOf(l.AppendedAt)))
	b = binary.LittleEndian.AppendUint32(b, batch)
	b = binary.LittleEndian.AppendUint32(b, left)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(l.Extensions)))
	var flags byte
	if l.Data == nil {
		flags |= nilData
	}
	b = append(b, byte(l.Type), flags, 0, 0, 0, headerMark)
	b = append(append(b, l.Data...), l.Extensions...)
	binary.LittleEndian.PutUint32(b[start:], crc32.Checksum(b[start+4:], castagnoli))
	for end := start + int(bytesOf(l)); len(b) < end; {
		b = append(b, padByte)
	}
	return b
}

func nanosOf(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixNano()
}

func timeOf(nanos int64) time.Time {
	if nanos == noTime {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

// errCut reports that a frame, if it is one, continues beyond the bytes at hand.
var errCut = errors.New("is cut short")

// sizeOf returns the size of the frame whose header begins b. The header is not checked.
func sizeOf(b []byte) int64 {
	return FrameBytes(int(binary.LittleEndian.Uint32(b[4:])) + int(binary.LittleEndian.Uint16(b[40:])))
}

// parseFrame parses the frame at the beginning of b, and returns its size. The error describes the
// damage, or is errCut.
func parseFrame(b []byte) (rec Record, size int64, err error) {
	if len(b) < headerBytes {
		return rec, headerBytes, errCut
	}
	data := int(binary.LittleEndian.Uint32(b[4:]))
	size = sizeOf(b)
	switch {
	case b[headerBytes-1] != headerMark || data > maxDataBytes:
		return rec, 0, errors.New("is damaged: there is no entry where it should be")
	case size > int64(len(b)):
		return rec, size, errCut
	}
	extensions := int(binary.LittleEndian.Uint16(b[40:]))
	if binary.LittleEndian.Uint32(b) != crc32.Checksum(b[4:headerBytes+data+extensions], castagnoli) {
		return rec, size, errors.New("is damaged: its checksum does not match")
	}
	rec = Record{
		Index: binary.LittleEndian.Uint64(b[8:]), Term: binary.LittleEndian.Uint64(b[16:]), Kind: raft.LogType(b[42]),
		nanos: int64(binary.LittleEndian.Uint64(b[24:])),
		batch: binary.LittleEndian.Uint32(b[32:]), left: binary.LittleEndian.Uint32(b[36:]),
	}
	if body := b[headerBytes:]; b[43]&nilData == 0 {
		rec.Data = body[:data:data]
	}
	if extensions > 0 {
		rec.Extensions = b[headerBytes+data : headerBytes+data+extensions : headerBytes+data+extensions]
	}
	return rec, size, nil
}

// appendClosing appends the frame that ends a log which was closed.
func appendClosing(b []byte) []byte {
	return appendFrame(b, &raft.Log{Type: closing}, 0, 0)
}
