package state

import "strconv"

// Object is one stored object. Once it is in a tree, neither it nor its bytes change.
//
// The order of the fields lets the struct fill the 112-byte size class exactly. The state has one
// struct for each object, and history one more for each change.
type Object struct {
	Key     Key
	Version uint64 // log index of the last write: the resourceVersion
	Created uint64 // log index of the creation; 0 if unknown (an update replayed from the log)
	UID     string
	Value   []byte // canonical JSON as served, with its resourceVersion

	Labels Attributes
	Fields Attributes
	// VersionOffset is the offset of the decimal Version in Value.
	VersionOffset uint32
	// Sealed prevents creates that name this object as their guard (a terminating namespace).
	Sealed bool
}

// objectOverhead is the memory of an object beyond its strings and bytes: the struct.
const objectOverhead = 112

// Size returns the bytes of memory that the object uses, for bounds. It counts attributes in full
// even if other objects share them.
func (o *Object) Size() int {
	return objectOverhead + len(o.Key) + len(o.UID) + len(o.Value) + len(o.Labels) + len(o.Fields)
}

// maxVersionDigits is how many digits a version has at most.
const maxVersionDigits = 20

// SizeOf returns at least what Size is for an object of a key, uid, value without the digits of the
// version, labels and fields of so many bytes.
func SizeOf(key, uid, value, labels, fields int) int {
	return objectOverhead + key + uid + value + maxVersionDigits + labels + fields
}

// WithVersion returns a copy of the object's bytes with another version in place of its own.
func (o *Object) WithVersion(version uint64) []byte {
	end := int(o.VersionOffset) + decimalLen(o.Version)
	return splice(o.Value[:o.VersionOffset], version, o.Value[end:])
}

// Splice returns a copy of value with the decimal version inserted at offset. Apply uses it to make
// the bytes of a stored object from those in its entry.
func Splice(value []byte, offset uint32, version uint64) []byte {
	return splice(value[:offset], version, value[offset:])
}

func splice(head []byte, version uint64, tail []byte) []byte {
	out := make([]byte, 0, len(head)+decimalLen(version)+len(tail))
	out = append(out, head...)
	out = strconv.AppendUint(out, version, 10)
	return append(out, tail...)
}

func decimalLen(n uint64) int {
	digits := 1
	for ; n >= 10; n /= 10 {
		digits++
	}
	return digits
}
