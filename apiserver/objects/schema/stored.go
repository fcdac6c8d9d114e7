package schema

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"
)

// Borrow calls fn with the top message of a stored value in the form of the kind. The message is
// valid until fn returns. Errors of decoding are server errors.
func (k *Kind) Borrow(value []byte, fn func(root *Value) error) error {
	d := k.decoders.get()
	defer k.decoders.put(d)
	root, err := d.stored(k, value)
	if err != nil {
		return err
	}
	return fn(root)
}

// AppendPartial appends what is left of a stored value of another kind as an object of this one,
// which has no more than metadata. Only the metadata is read, unless the other kind converts: then
// it has metadata of its own.
func (k *Kind) AppendPartial(dst, value []byte, of *Kind) ([]byte, error) {
	if of.converts {
		var err error
		if value, err = of.Present(value); err != nil {
			return dst, err
		}
	}
	metadata, err := metadataOf(value)
	if err != nil {
		return dst, err
	}
	dst = append(append(dst, k.prefix...), metadataKey...)
	return append(append(dst, metadata...), '}'), nil
}

// metadataKey begins what follows upon kind and apiVersion in every stored value.
const metadataKey = `"metadata":`

// metadataOf returns the metadata of a stored value, a part of it, without reading what comes
// after.
func metadataOf(value []byte) ([]byte, error) {
	rest := value
	for range 2 { // kind and apiVersion, whose texts hold no commas
		_, rest, _ = bytes.Cut(rest, []byte{','})
	}
	rest, ok := bytes.CutPrefix(rest, []byte(metadataKey))
	if !ok {
		return nil, errors.New("read the metadata of a stored value: it does not begin with them")
	}
	d := scanner{s: unsafe.String(unsafe.SliceData(rest), len(rest)), reused: true}
	if err := d.skip(1); err != nil {
		return nil, fmt.Errorf("read the metadata of a stored value: %w", err)
	}
	return rest[:d.pos:d.pos], nil
}
