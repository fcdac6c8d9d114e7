package log

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/hashicorp/raft"
)

// A record is the encoding of an entry as raft-boltdb/v2 writes it: raft.Log as a msgpack map, with
// the keys in alphabetical order. To the bytes of Extensions, this package appends one byte for the
// kind of checksum, and the checksum.
const (
	keyBytes = 8
	// checksumCRC32C is CRC-32C, big-endian, of all bytes of the record except its own four.
	checksumCRC32C = 1
	sealBytes      = 1 + crc32.Size
	// recordOverhead bounds the size of a record beyond Data and Extensions.
	recordOverhead = 128
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func logsBucket() []byte { return []byte("logs") }
func confBucket() []byte { return []byte("conf") }

func indexKey(index uint64) (key [keyBytes]byte) {
	binary.BigEndian.PutUint64(key[:], index)
	return key
}

// record is a parsed record; its slices are parts of the bytes it was parsed from.
type record struct {
	index, term      uint64
	kind             raft.LogType
	data, extensions []byte
	appendedAt       []byte
}

// appendRecord appends the record of an entry to b.
func appendRecord(b []byte, l *raft.Log) []byte {
	start := len(b)
	b = append(b, 0x86) // a map of six
	b = append(b, "\xaaAppendedAt"...)
	b = appendTime(b, l.AppendedAt)
	b = append(b, "\xa4Data"...)
	if l.Data == nil {
		b = append(b, 0xc0)
	} else {
		b = append(appendRawHeader(b, len(l.Data)), l.Data...)
	}
	b = append(b, "\xaaExtensions"...)
	b = append(appendRawHeader(b, len(l.Extensions)+sealBytes), l.Extensions...)
	b = append(b, checksumCRC32C)
	sum := len(b)
	b = append(b, 0, 0, 0, 0)
	b = appendUint(append(b, "\xa5Index"...), l.Index)
	b = appendUint(append(b, "\xa4Term"...), l.Term)
	b = appendUint(append(b, "\xa4Type"...), uint64(l.Type))
	binary.BigEndian.PutUint32(b[sum:], checksum(b[start:], sum-start))
	return b
}

// checksum returns the checksum of b without the four bytes at offset sum.
func checksum(b []byte, sum int) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, b[:sum]), castagnoli, b[sum+crc32.Size:])
}

// appendTime appends t as time.Time.MarshalBinary encodes it, in UTC.
func appendTime(b []byte, t time.Time) []byte {
	at := len(b)
	b, err := t.UTC().AppendBinary(append(b, 0))
	if err != nil { // only for zones with an offset that UTC does not have
		panic(fmt.Sprintf("encode time %v: %v", t, err))
	}
	b[at] = 0xa0 | byte(len(b)-at-1)
	return b
}

func appendRawHeader(b []byte, n int) []byte {
	switch {
	case n < 1<<5:
		return append(b, 0xa0|byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, 0xda), uint16(n))
	default:
		return binary.BigEndian.AppendUint32(append(b, 0xdb), uint32(n))
	}
}

func appendUint(b []byte, v uint64) []byte {
	switch {
	case v < 1<<7:
		return append(b, byte(v))
	case v < 1<<8:
		return append(b, 0xcc, byte(v))
	case v < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(v))
	case v < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, 0xce), uint32(v))
	default:
		return binary.BigEndian.AppendUint64(append(b, 0xcf), v)
	}
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
	at, err := r.time()
	if err != nil {
		return err
	}
	*l = raft.Log{Index: r.index, Term: r.term, Type: r.kind, Data: r.data, AppendedAt: at}
	if len(r.extensions) > 0 {
		l.Extensions = r.extensions
	}
	return nil
}

func (r *record) time() (at time.Time, err error) {
	if err := at.UnmarshalBinary(r.appendedAt); err != nil {
		return at, fmt.Errorf("has a bad time: %w", err)
	}
	return at, nil
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
