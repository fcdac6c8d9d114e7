package negotiate

import (
	"encoding/json"
	"errors"
	"fmt"

	"quorate/apiserver/schema"
)

// maxEarly is how much of a list is kept while it is measured. A list that fits is encoded once only.
const maxEarly = 64 << 10

// protobufList is what a list in protobuf has more.
type protobufList struct {
	size  int    // of the items, with what comes before each
	early []byte // the items, as long as they fit
	long  bool   // they did not fit
}

// Measure counts an item in, a stored value.
func (l *List) Measure(value []byte) error {
	o, err := decodeOwn(value, l.Kind)
	if err != nil {
		return err
	}
	p := &l.protobuf
	size := o.ProtobufSize()
	p.size += schema.ListItemSize(size)
	if p.size > maxEarly {
		p.early, p.long = nil, true
	}
	if !p.long {
		p.early = o.AppendProtobuf(schema.AppendListItemHead(p.early, size))
	}
	return nil
}

// Complete reports whether AppendHead has written the items too, as it does with those of a short list that were measured.
func (l *List) Complete() bool { return l.Form.Binary() && !l.protobuf.long }

func (l *List) appendProtobufHead(b []byte) ([]byte, error) {
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
	b = schema.EnvelopeHead(b, l.Kind.APIVersion, l.Kind.ListKind, schema.ListHeadSize(head)+l.protobuf.size)
	b = schema.AppendListHead(b, head)
	if l.Complete() {
		l.protobuf.size -= len(l.protobuf.early)
		b = append(b, l.protobuf.early...)
	}
	return b, nil
}

func (l *List) appendProtobufItem(b, value []byte) ([]byte, error) {
	o, err := decodeOwn(value, l.Kind)
	if err != nil {
		return nil, err
	}
	size := o.ProtobufSize()
	l.protobuf.size -= schema.ListItemSize(size)
	return o.AppendProtobuf(schema.AppendListItemHead(b, size)), nil
}

func (l *List) appendProtobufTail(b []byte) ([]byte, error) {
	if l.protobuf.size != 0 {
		return nil, errors.New("the items of a list are not those that were measured")
	}
	return schema.EnvelopeTail(b), nil
}
