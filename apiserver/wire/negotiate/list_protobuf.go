package negotiate

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"quorate/apiserver/objects/schema"
)

const (
	// maxKept is how much of one list is kept while it is measured, so that it need not be encoded
	// again.
	maxKept = 8 << 20
	// firstPiece and largestPiece are sizes of the pieces in which it is kept.
	firstPiece, largestPiece = 4 << 10, 16 << 10
)

// protobufList is what a list in protobuf has more.
type protobufList struct {
	size    int      // of the items that are not written yet, with what comes before each
	pieces  [][]byte // the first items
	kept    int      // how many they are
	room    int      // bytes of the pieces, used or not
	long    bool     // the others are not kept
	scratch []byte   // the item being measured
}

// Measure counts an item in, a stored value. It is kept, unless the list or all lists together have
// grown too long.
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

// makeRoom sees to it that the last piece has room for n bytes more.
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

// Kept returns how many items Measure has kept. They are the pieces that follow upon the head;
// AppendItem is for the others.
func (l *List) Kept() int { return l.protobuf.kept }

// Pieces yields them, once.
func (l *List) Pieces() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		p := &l.protobuf
		for i, piece := range p.pieces {
			p.pieces[i] = nil // it is garbage when it has been written
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
		return nil, errors.New("the items of a list are not those that were measured")
	}
	return schema.EnvelopeTail(b), nil
}
