package boltlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/hashicorp/raft"
)

// A record is the encoding of an entry as raft-boltdb/v2 writes it: raft.Log as a msgpack map, with
// the keys in alphabetical order. The bytes of Extensions are followed by one byte for the kind of
// checksum, and the checksum.
const (
	keyBytes = 8
	// checksumCRC32C is CRC-32C, big-endian, of all bytes of the record except its own four.
	checksumCRC32C = 1
	sealBytes      = 1 + crc32.Size
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func logsBucket() []byte { return []byte("logs") }
func confBucket() []byte { return []byte("conf") }

// record is a parsed record; its slices are parts of the bytes it was parsed from.
type record struct {
	index, term      uint64
	kind             raft.LogType
	data, extensions []byte
	appendedAt       []byte
}

// checksum returns the checksum of b without the four bytes at offset sum.
func checksum(b []byte, sum int) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, b[:sum]), castagnoli, b[sum+crc32.Size:])
}

// parseRecord checks and parses the bytes stored under index. The error describes the damage.
func parseRecord(b []byte, index uint64) (record, error) {
	p := parser{rest: b}
	var rec record
	sum := -1
	if p.byte() != 0x86 {
		return record{}, errors.New("is not a log entry")
	}
	for range 6 {
		switch string(p.raw()) {
		case "AppendedAt":
			rec.appendedAt = p.raw()
		case "Data":
			rec.data = p.raw()
		case "Extensions":
			rec.extensions = p.raw()
			sum = len(b) - len(p.rest) - crc32.Size
		case "Index":
			rec.index = p.uint()
		case "Term":
			rec.term = p.uint()
		case "Type":
			rec.kind = raft.LogType(p.uint())
		default:
			p.bad = true
		}
	}
	n := len(rec.extensions) - sealBytes
	switch {
	case p.bad || len(p.rest) > 0:
		return record{}, errors.New("is damaged: it can't be decoded")
	case n < 0:
		return record{}, errors.New("has no checksum")
	case rec.extensions[n] != checksumCRC32C:
		return record{}, fmt.Errorf("has a checksum of unknown kind %d", rec.extensions[n])
	case binary.BigEndian.Uint32(b[sum:]) != checksum(b, sum):
		return record{}, errors.New("is damaged: its checksum does not match")
	case rec.index != index:
		return record{}, fmt.Errorf("is damaged: entry %d is stored in its place", rec.index)
	}
	rec.extensions = rec.extensions[:n:n]
	return rec, nil
}

// into sets the fields of l, which then shares the record's memory.
func (r *record) into(l *raft.Log) error {
	var at time.Time
	if err := at.UnmarshalBinary(r.appendedAt); err != nil {
		return fmt.Errorf("has a bad time: %w", err)
	}
	*l = raft.Log{Index: r.index, Term: r.term, Type: r.kind, Data: r.data, AppendedAt: at}
	if len(r.extensions) > 0 {
		l.Extensions = r.extensions
	}
	return nil
}

// parser reads the msgpack of records. After malformed input it returns zeros and bad is set.
type parser struct {
	rest []byte
	bad  bool
}

func (p *parser) take(n int) []byte {
	if n < 0 || n > len(p.rest) {
		p.bad, p.rest = true, nil
		return nil
	}
	b := p.rest[:n:n]
	p.rest = p.rest[n:]
	return b
}

func (p *parser) byte() byte {
	if b := p.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (p *parser) number(n int) (v uint64) {
	for _, b := range p.take(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

func (p *parser) uint() uint64 {
	switch c := p.byte(); {
	case c < 0x80:
		return uint64(c)
	case c >= 0xcc && c <= 0xcf:
		return p.number(1 << (c - 0xcc))
	default:
		p.bad = true
		return 0
	}
}

// raw reads a byte string; it returns nil for msgpack's nil.
func (p *parser) raw() []byte {
	switch c := p.byte(); {
	case c >= 0xa0 && c < 0xc0:
		return p.take(int(c & 0x1f))
	case c == 0xda || c == 0xdb:
		return p.take(int(p.number(2 << (c - 0xda))))
	case c == 0xc0:
		return nil
	default:
		p.bad = true
		return nil
	}
}
