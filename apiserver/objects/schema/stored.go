package schema

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"
)

// Borrow decodes a stored value in the form of the kind and calls fn with its root message. fn must
// not retain the message. Errors that are not fn's mean invalid stored data.
func (k *Kind) Borrow(value []byte, fn func(root *Value) error) error {
	d := k.decoders.get()
	defer k.decoders.put(d)
	root, err := d.stored(k, value)
	if err != nil {
		return err
	}
	return fn(root)
}

// AppendPartial appends a stored value of kind of as an object of this kind, which has metadata
// only. It decodes only the metadata, unless kind of is a view and may thus change the metadata.
func (k *Kind) AppendPartial(dst, value []byte, of *Kind) ([]byte, error) {
	if of.converts || of.renames {
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

// metadataKey follows kind and apiVersion in each stored value.
const metadataKey = `"metadata":`

// metadataOf returns the metadata of a stored value as a subslice. It does not parse what follows
// the metadata.
func metadataOf(value []byte) ([]byte, error) {
	rest := value
	for range 2 { // skip kind and apiVersion, whose texts contain no commas
		_, rest, _ = bytes.Cut(rest, []byte{','})
	}
	rest, ok := bytes.CutPrefix(rest, []byte(metadataKey))
	if !ok {
		return nil, errors.New("read the metadata of a stored value: the value does not begin with metadata")
	}
	d := scanner{s: unsafe.String(unsafe.SliceData(rest), len(rest)), reused: true}
	if err := d.skip(1); err != nil {
		return nil, fmt.Errorf("read the metadata of a stored value: %w", err)
	}
	return rest[:d.pos:d.pos], nil
}
