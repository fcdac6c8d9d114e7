package schema

import "math/bits"

// ProtobufSize returns the number of bytes that AppendProtobuf appends.
func (o *Object) ProtobufSize() int { return o.Kind.Message.wireTop.size(o.root.box.kids) }

// ProtobufSize returns the number of bytes that AppendProtobuf appends.
func (v *Value) ProtobufSize() int {
	if v == nil {
		return 0
	}
	return v.typ.message.wireTop.size(v.box.kids)
}

// sizeVarint returns the size of a varint in bytes.
func sizeVarint(n uint64) int { return (bits.Len64(n|1) + 6) / 7 }

// sizeSized returns the size of n bytes including the length that precedes them.
func sizeSized(n int) int { return sizeVarint(uint64(n)) + n }

// size returns the size of a message with the field values kids, or of an unset message if kids is
// nil.
func (w *wireMessage) size(kids []*Value) int {
	if kids == nil && w.zero != nil {
		return len(w.zero)
	}
	n := 0
	for i := range w.fields {
		n += w.fields[i].size(kids)
	}
	return n
}

func (f *wireField) size(kids []*Value) int {
	if f.inside != nil {
		return f.keySize + sizeSized(f.inside.size(kids))
	}
	v := f.of(kids)
	if !f.written(v) {
		return 0
	}
	t := f.field.Type
	switch {
	case f.field.Spec.ProtoListWrapper:
		return f.keySize + sizeSized(sizeItems(v, t.elem, 1))
	case t.Form == FormList:
		return sizeItems(v, t.elem, f.keySize)
	case t.Form == FormMap:
		n := 0
		for i, key := range v.box.keys {
			n += f.keySize + sizeSized(sizeEntry(key, v.box.kids[i], t.elem))
		}
		return n
	}
	return f.keySize + sizeValue(t, v)
}

// of returns the field's value among the values kids of its message, or nil.
func (f *wireField) of(kids []*Value) *Value {
	if kids == nil {
		return nil
	}
	return kids[f.field.index]
}

// written reports whether the field is encoded. Pointers, bytes, lists and maps are encoded if they
// are set, and fields that upstream does not have if they are not empty. All other fields are
// encoded even if they are zero, as upstream does.
func (f *wireField) written(v *Value) bool {
	t := f.field.Type
	switch {
	case f.field.pointer, t.Form == FormBytes, t.Form == FormList, t.Form == FormMap:
		return v != nil
	case f.own:
		return v != nil && !omitted(v)
	}
	return true
}

func sizeItems(v *Value, elem *Type, keySize int) int {
	n := len(v.box.kids) * keySize
	for _, item := range v.box.kids {
		n += sizeValue(elem, item)
	}
	return n
}

// sizeEntry returns the size of an encoded map entry.
func sizeEntry(key string, v *Value, elem *Type) int {
	return 1 + sizeSized(len(key)) + 1 + sizeValue(elem, v)
}

// sizeValue returns the size of a value without its key. nil stands for the zero value of the type.
func sizeValue(t *Type, v *Value) int {
	switch t.wireType() {
	case wireVarint:
		return sizeVarint(uint64(v.Int()))
	case wireFixed64:
		return 8
	}
	return sizeSized(sizeBody(t, v))
}

// sizeBody returns the size of a length-delimited value, without key and length.
func sizeBody(t *Type, v *Value) int {
	switch t.Form {
	case FormMessage:
		if v == nil {
			return len(t.message.wire.zero)
		}
		return t.message.wire.size(v.box.kids)
	case FormTime:
		if v == nil {
			return 0
		}
		return 1 + sizeVarint(uint64(v.num)) + 1 + 1
	case FormMicroTime:
		if v == nil {
			return 0
		}
		t := v.Time()
		return 1 + sizeVarint(uint64(t.Unix())) + 1 + sizeVarint(uint64(t.Nanosecond()))
	case FormQuantity:
		return 1 + sizeSized(len(quantityOf(v)))
	case FormIntOrString:
		return 1 + 1 + 1 + sizeVarint(uint64(v.Int())) + 1 + sizeSized(len(v.Str()))
	case FormRaw:
		if t.tree != nil {
			return t.tree.message.wire.size(v.tree(t).box.kids)
		}
		if rawText(v) == "" {
			return 0
		}
		return 1 + sizeSized(len(v.str))
	}
	return len(v.Str())
}

// quantityOf returns a quantity's text; "0" if it is unset.
func quantityOf(v *Value) string {
	if s := v.Str(); s != "" {
		return s
	}
	return "0"
}
