package negotiate

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"quorate/apiserver/objects/schema"
)

const (
	// maxKept bounds the bytes of the encoded items that Measure keeps, so that they need not be
	// encoded again.
	maxKept = 8 << 20
	// firstPiece and largestPiece are the sizes of the pieces that hold the kept items.
	firstPiece, largestPiece = 4 << 10, 16 << 10
)

// protobufList is the state of a List in protobuf.
type protobufList struct {
	size    int      // of the items that are not written yet, including tag and length of each
	pieces  [][]byte // the first items
	kept    int      // number of items in pieces
	room    int      // capacity of pieces in bytes
	long    bool     // a bound was reached: later items are not kept
	scratch []byte   // the item being measured
}

// Measure adds the size of an item, given as its stored value. It keeps the encoded item unless
// this list or all lists together have reached their bound.
func (l *List) Measure(value []byte) error {
	p := &l.protobuf
	item, err := l.Item.AppendProtobufItem(p.scratch[:0], value)
	if err != nil {
		return err
	}
	p.scratch = item
	p.size += len(item)
	if p.long = p.long || !l.makeRoom(len(item)); p.long {
		return nil
	}
	last := &p.pieces[len(p.pieces)-1]
	*last = append(*last, item...)
	p.kept++
	return nil
}

// makeRoom ensures that the last piece has space for n more bytes. It returns false if a bound is
// reached.
func (l *List) makeRoom(n int) bool {
	p := &l.protobuf
	size := firstPiece
	if len(p.pieces) > 0 {
		last := p.pieces[len(p.pieces)-1]
		if n <= cap(last)-len(last) {
			return true
		}
		size = min(2*cap(last), largestPiece)
	}
	size = max(size, n)
	if p.room+size > maxKept || l.Keep != nil && !l.Keep(size) {
		return false
	}
	p.room += size
	p.pieces = append(p.pieces, make([]byte, 0, size))
	return true
}

// Kept returns the number of items that Measure has kept. Pieces yields them; AppendItem must be
// called for the others.
func (l *List) Kept() int { return l.protobuf.kept }

// Pieces yields the encoded kept items. It can be iterated once, after AppendHead.
func (l *List) Pieces() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		p := &l.protobuf
		for i, piece := range p.pieces {
			p.pieces[i] = nil // lets the garbage collector free it once it is written
			p.size -= len(piece)
			if !yield(piece) {
				return
			}
		}
	}
}

func (l *List) appendProtobufHead(b []byte) ([]byte, error) {
	l.protobuf.scratch = nil
	var meta struct {
		SelfLink           string `json:"selfLink"`
		ResourceVersion    string `json:"resourceVersion"`
		Continue           string `json:"continue"`
		RemainingItemCount *int64 `json:"remainingItemCount"`
	}
	if err := json.Unmarshal(l.Metadata, &meta); err != nil {
		return nil, fmt.Errorf("write list metadata as protobuf: %w", err)
	}
	head := schema.ListMeta(meta)
	b = schema.EnvelopeHead(b, l.APIVersion, l.Kind, schema.ListHeadSize(head)+l.protobuf.size)
	return schema.AppendListHead(b, head), nil
}

func (l *List) appendProtobufItem(b, value []byte) ([]byte, error) {
	out, err := l.Item.AppendProtobufItem(b, value)
	l.protobuf.size -= len(out) - len(b)
	return out, err
}

func (l *List) appendProtobufTail(b []byte) ([]byte, error) {
	if l.protobuf.size != 0 {
		return nil, errors.New("the items of a list differ from the measured ones")
	}
	return schema.EnvelopeTail(b), nil
}
