package schema

import (
	"fmt"
	"unsafe"
)

// Borrow calls fn with the top message of a stored value: bytes that Encode made, in the form of this very kind. What fn is given
// is good until it returns. Errors of the reading are no fault of a client.
func (k *Kind) Borrow(value []byte, fn func(root *Value) error) error {
	d := k.decoders.get()
	defer k.decoders.put(d)
	root, err := d.stored(k, value)
	if err != nil {
		return err
	}
	return fn(root)
}

// metadataKey begins what follows upon kind and apiVersion in every stored value.
const metadataKey = `"metadata":`

// metadataOf returns the metadata of a stored value, a part of it, without reading what comes after.
func (k *Kind) metadataOf(value []byte) ([]byte, error) {
	at, from := len(k.prefix), len(k.prefix)+len(metadataKey)
	if len(value) < from || string(value[:at]) != k.prefix || string(value[at:from]) != metadataKey {
		return nil, fmt.Errorf("read the metadata of a stored value: it is no %s of %s", k.Kind, k.APIVersion)
	}
	d := scanner{s: unsafe.String(unsafe.SliceData(value), len(value)), pos: from, reused: true}
	if err := d.skip(1); err != nil {
		return nil, fmt.Errorf("read the metadata of a stored value: %w", err)
	}
	return value[from:d.pos:d.pos], nil
}

// AppendPartial appends what is left of a stored value of this kind as an object of another, one that has no more than metadata.
// Only the metadata is read.
func (k *Kind) AppendPartial(dst, value []byte, as *Kind) ([]byte, error) {
	metadata, err := k.metadataOf(value)
	if err != nil {
		return dst, err
	}
	dst = append(append(dst, as.prefix...), metadataKey...)
	return append(append(dst, metadata...), '}'), nil
}
