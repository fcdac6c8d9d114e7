package schema

import "quorate/apiserver/limit"

// DecodeProtobuf decodes an object of the kind from a client's protobuf bytes, without their
// envelope. It skips unknown fields and lists them in the problems. If a scalar field occurs more
// than once, the last occurrence counts; if a message occurs more than once, the occurrences are
// merged. DecodeProtobuf does not see the envelope and fills in the kind's own kind and apiVersion,
// so callers must check those of the envelope with CheckIdentity. It does not retain raw. Errors
// are *DecodeError.
func (k *Kind) DecodeProtobuf(raw []byte) (*Object, Problems, error) {
	d := newProtoDecoder(raw)
	root, err := d.document(k.Message)
	if err != nil {
		return nil, d.problems, k.describe(err)
	}
	o := &Object{Kind: k, root: root}
	if err := o.checkIdentity(&d.decoder); err != nil {
		return nil, d.problems, err
	}
	o.afterDecode()
	return o, d.problems, nil
}

// DecodeProtobuf decodes a message that is not an object of a kind, such as DeleteOptions, from
// protobuf bytes without an envelope, as Kind.DecodeProtobuf does.
func (m *Message) DecodeProtobuf(raw []byte) (*Value, Problems, error) {
	d := newProtoDecoder(raw)
	v, err := d.document(m)
	if err != nil {
		return nil, d.problems, m.describe(err)
	}
	return v, d.problems, nil
}

// protoDecoder decodes one protobuf document. It shares the chunks, path and limits of the JSON
// decoder.
type protoDecoder struct {
	decoder
	unsorted map[*box]bool // maps whose entries came unsorted; document sorts each of them once, at the end
}

func newProtoDecoder(raw []byte) *protoDecoder {
	d := &protoDecoder{decoder: decoder{scanner: scanner{s: string(raw)}}}
	d.path = d.pathRoom[:0]
	return d
}

func (d *protoDecoder) document(m *Message) (*Value, error) {
	d.root = m.Name
	v := d.value(m.typ)
	if err := d.message(v, len(d.s), 0); err != nil {
		return nil, err
	}
	for b := range d.unsorted {
		d.sortMap(b) // of entries with equal keys the last counts
	}
	return v, nil
}

// message reads the fields of a message up to end into v. If v already has fields from an earlier
// occurrence, it merges the new ones into them.
func (d *protoDecoder) message(v *Value, end, depth int) error {
	m := v.typ.message
	if v.box == nil {
		if d.taken += len(m.fields); d.taken > maxSlots {
			return limit.Reached(limit.Fields, d.malformed("the object holds too many messages", d.pos))
		}
		v.box = d.box()
		v.box.kids = d.take(len(m.fields))
	}
	return d.fields(v, m.wire, end, depth)
}

// fieldDepth is how much deeper than a message the items of its lists and maps are in JSON. An
// object that came in protobuf is not deeper in JSON than one that came in JSON.
const fieldDepth = 2

// fields reads fields of v that are laid out as w, up to end.
func (d *protoDecoder) fields(v *Value, w *wireMessage, end, depth int) error {
	if depth > maxDepth || len(d.path) > maxDepth-fieldDepth {
		return limit.Reached(limit.Nesting, d.protoError("exceeded max depth", d.pos))
	}
	union := v.typ.message.Spec.Union // JSON has the value of the field in place of the message
	for at := 0; d.pos < end; {
		key, err := d.key(end)
		if err != nil {
			return err
		}
		f, i := w.find(int(key>>wireTypeBits), at)
		at = i
		switch {
		case f == nil:
			err = d.skipUnknownField(key, end, depth)
		case f.inside != nil:
			err = d.wrapper(v, f, key, end, depth)
		default:
			if !union {
				d.path = append(d.path, decodeStep{name: f.field.Name, index: -1})
			}
			err = d.field(v, f, key, end, depth)
		}
		if err != nil {
			return err
		}
		if f != nil && f.inside == nil && !union {
			d.path = d.path[:len(d.path)-1]
		}
	}
	return nil
}

// wrapper reads a wrapper message, whose fields are fields of v (protoWrap).
func (d *protoDecoder) wrapper(v *Value, f *wireField, key uint64, end, depth int) error {
	stop, err := d.sized(key, end)
	if err != nil {
		return err
	}
	return d.fields(v, f.inside, stop, depth+1)
}

// field reads a field. For a list or map it reads all items that directly follow each other.
func (d *protoDecoder) field(v *Value, f *wireField, key uint64, end, depth int) error {
	t, slot := f.field.Type, &v.box.kids[f.field.index]
	switch {
	case f.field.Spec.ProtoListWrapper:
		return d.wrappedList(slot, t, key, end, depth)
	case t.Form == FormList:
		return d.readItems(slot, t, key, end, depth)
	case t.Form == FormMap:
		return d.entries(slot, t, key, end, depth)
	case t.Form == FormMessage:
		return d.messageField(slot, f, key, end, depth)
	}
	got, err := d.scalar(t, key, end, depth)
	if err != nil {
		return err
	}
	if !f.field.pointer && t.Form != FormBytes && got.IsEmpty() && !got.IsText() {
		got = nil // upstream writes unset fields of this type as zero, and an intOrString as a number
	}
	*slot = got
	return nil
}

// messageField reads a field that is a message. It leaves a field without `pointer` unset if the
// message is empty, because upstream writes unset messages as empty ones.
func (d *protoDecoder) messageField(slot **Value, f *wireField, key uint64, end, depth int) error {
	stop, err := d.sized(key, end)
	if err != nil {
		return err
	}
	v := *slot
	if v == nil {
		if d.pos == stop && !f.field.pointer {
			return nil
		}
		v = d.value(f.field.Type)
	}
	if err := d.message(v, stop, depth+1); err != nil {
		return err
	}
	if f.field.pointer && !v.isNull() || !v.IsEmpty() {
		*slot = v
	}
	return nil
}

// wrappedList reads a message that contains the items of a list (protoListWrapper). The list is set
// even if the message is empty.
func (d *protoDecoder) wrappedList(slot **Value, t *Type, key uint64, end, depth int) error {
	stop, err := d.sized(key, end)
	if err != nil {
		return err
	}
	d.list(slot, t)
	for d.pos < stop {
		key, err := d.key(stop)
		if err != nil {
			return err
		}
		if key>>wireTypeBits == firstInsideEntry {
			err = d.readItems(slot, t, key, stop, depth+1)
		} else {
			err = d.skipUnknownField(key, stop, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nextOfSameField reads the next key if it belongs to the same field.
func (d *protoDecoder) nextOfSameField(key uint64, end int) (next uint64, ok bool, err error) {
	if d.pos >= end {
		return 0, false, nil
	}
	start := d.pos
	if next, err = d.key(end); err != nil {
		return 0, false, err
	}
	if next>>wireTypeBits != key>>wireTypeBits {
		d.pos = start
		return 0, false, nil
	}
	return next, true, nil
}

// list returns the list or map in a slot. It creates it if the slot is unset.
func (d *protoDecoder) list(slot **Value, t *Type) *Value {
	if *slot == nil {
		*slot = d.value(t)
		(*slot).box = d.box()
	}
	return *slot
}

// readItems reads the items that directly follow each other and appends them to the list.
func (d *protoDecoder) readItems(slot **Value, t *Type, key uint64, end, depth int) (err error) {
	list, base := d.list(slot, t), len(d.items)
	for more := true; more; key, more, err = d.nextOfSameField(key, end) {
		if key&wireTypeMask == wireBytes && t.elem.wireType() != wireBytes { // packed numbers, as other encoders may write them
			err = d.packed(t.elem, key, end)
		} else {
			err = d.item(list, t.elem, key, end, depth, len(d.items)-base)
		}
		if err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if len(list.box.kids) == 0 {
		list.box.kids = d.takeItems(base)
		return nil
	}
	list.box.kids = append(list.box.kids, d.items[base:]...)
	d.items = d.items[:base]
	return nil
}

// packedSlots is the number of slots that a packed number counts against maxSlots: one byte of
// input allocates a Value.
const packedSlots = 4

func (d *protoDecoder) packed(elem *Type, key uint64, end int) error {
	stop, err := d.sized(key, end)
	if err != nil {
		return err
	}
	for d.pos < stop {
		if d.taken += packedSlots; d.taken > maxSlots {
			return limit.Reached(limit.Fields, d.malformed("the object holds too many numbers", d.pos))
		}
		item, err := d.scalar(elem, elem.wireType(), stop, 0)
		if err != nil {
			return err
		}
		d.items = append(d.items, item)
	}
	return nil
}

// item reads an item of a list. n is its position among the items being read.
func (d *protoDecoder) item(list *Value, elem *Type, key uint64, end, depth, n int) error {
	d.path = append(d.path, decodeStep{index: len(list.box.kids) + n})
	item, err := d.element(elem, key, end, depth)
	if err != nil {
		return err
	}
	d.path = d.path[:len(d.path)-1]
	d.items = append(d.items, item)
	return nil
}

// element reads an item of a list or the value of a map entry. It never returns nil without an
// error.
func (d *protoDecoder) element(t *Type, key uint64, end, depth int) (*Value, error) {
	if t.Form == FormMessage {
		stop, err := d.sized(key, end)
		if err != nil {
			return nil, err
		}
		v := d.value(t)
		return v, d.message(v, stop, depth+1)
	}
	v, err := d.scalar(t, key, end, depth)
	if v == nil && err == nil {
		v = t.New()
	}
	return v, err
}

// entries reads the map entries that directly follow each other and adds them to the map.
func (d *protoDecoder) entries(slot **Value, t *Type, key uint64, end, depth int) (err error) {
	b, base, named := d.list(slot, t).box, len(d.items), len(d.names)
	sorted := len(b.kids) == 0
	for more := true; more; key, more, err = d.nextOfSameField(key, end) {
		name, item, err := d.entry(t.elem, key, end, depth)
		if err != nil {
			return err
		}
		sorted = sorted && (len(d.names) == named || d.names[len(d.names)-1] < name)
		d.names, d.items = append(d.names, name), append(d.items, item)
	}
	if err != nil {
		return err
	}
	if !sorted {
		if d.unsorted == nil {
			d.unsorted = map[*box]bool{}
		}
		d.unsorted[b] = true
	}
	if len(b.kids) == 0 {
		b.kids, b.keys = d.takeItems(base), d.takeNames(named)
		return nil
	}
	b.kids, b.keys = append(b.kids, d.items[base:]...), append(b.keys, d.names[named:]...)
	d.items, d.names = d.items[:base], d.names[:named]
	return nil
}

// entry reads a map entry. A missing key or value is empty.
func (d *protoDecoder) entry(elem *Type, key uint64, end, depth int) (name string, item *Value, err error) {
	stop, err := d.sized(key, end)
	if err != nil {
		return "", nil, err
	}
	for d.pos < stop {
		if key, err = d.key(stop); err != nil {
			return "", nil, err
		}
		switch key >> wireTypeBits {
		case firstInsideEntry:
			name, err = d.text(key, stop)
		case secondInside:
			d.path = append(d.path, decodeStep{name: name, index: -1})
			item, err = d.element(elem, key, stop, depth+1)
			if err == nil {
				d.path = d.path[:len(d.path)-1]
			}
		default:
			err = d.skipUnknownField(key, stop, depth+1)
		}
		if err != nil {
			return "", nil, err
		}
	}
	if item == nil {
		item = elem.New()
	}
	return name, item, nil
}
