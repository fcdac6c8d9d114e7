package schema

import (
	"slices"
	"strconv"
	"strings"

	"quorate/apiserver/limit"
)

// decoder decodes one JSON document into Values. It allocates them in chunks; a chunk stays in
// memory as long as any value of it is referenced.
type decoder struct {
	scanner
	problems Problems
	path     []decodeStep
	values   []Value
	slots    []*Value
	boxes    []box
	keys     []string
	items    []*Value // items of the lists and maps being read, the innermost last
	names    []string // keys of the maps being read, the innermost last
	taken    int      // slots allocated for messages so far
	root     string   // the top message's name, for errors
	trees    bool     // also read the JSON texts that protobuf has as messages
	inTree   bool     // the value being read is within such a text
	reports  bool     // also report the unknown fields of such texts
	reported int      // slots allocated for that so far
	pathRoom [16]decodeStep
}

// decodeStep is one step of the path to a value: a list index, or a field name or map key with
// index -1.
type decodeStep struct {
	name  string
	index int
}

func newDecoder(s string) *decoder {
	d := &decoder{scanner: scanner{s: s}}
	d.path = d.pathRoom[:0]
	return d
}

// document reads the whole document as one value of type t.
func (d *decoder) document(t *Type) (*Value, error) { return d.documentAt(t, 0) }

// documentAt reads the whole document as one value of type t, which is at a depth of another
// document.
func (d *decoder) documentAt(t *Type, depth int) (*Value, error) {
	if d.root == "" && t.message != nil {
		d.root = t.message.Name
	}
	v, err := d.read(t, depth)
	if err != nil {
		return nil, err
	}
	if d.space() != 0 || d.pos < len(d.s) {
		return nil, d.syntax("after top-level value")
	}
	return v, nil
}

// Limits of the size of a chunk. Each chunk is twice as large as the one before it, up to maxChunk.
const (
	firstChunk = 16
	maxChunk   = 128
)

// maxChunkSize returns the maximum chunk size. Chunks that are reused may grow until one holds a
// whole document.
func (d *decoder) maxChunkSize() int {
	if d.reused {
		return maxKept
	}
	return maxChunk
}

// maxSlots limits the fields, set or not, of all messages of one document, and with them its
// memory: a few bytes ("{},") can require a message with many fields. Documents of normal shape
// within the request size limit stay far below it.
const maxSlots = 4 << 20

func (d *decoder) value(t *Type) *Value {
	if len(d.values) == cap(d.values) {
		d.values = make([]Value, 0, min(d.maxChunkSize(), max(firstChunk, 2*cap(d.values))))
	}
	d.values = append(d.values, Value{typ: t})
	return &d.values[len(d.values)-1]
}

func (d *decoder) box() *box {
	if len(d.boxes) == cap(d.boxes) {
		d.boxes = make([]box, 0, min(d.maxChunkSize()/2, max(firstChunk/2, 2*cap(d.boxes))))
	}
	d.boxes = append(d.boxes, box{})
	return &d.boxes[len(d.boxes)-1]
}

// take allocates n slots.
func (d *decoder) take(n int) []*Value {
	at := len(d.slots)
	if n > cap(d.slots)-at {
		d.slots, at = make([]*Value, 0, max(n, min(4*d.maxChunkSize(), max(4*firstChunk, 2*cap(d.slots))))), 0
	}
	d.slots = d.slots[:at+n]
	return d.slots[at : at+n : at+n]
}

// takeItems moves the items beyond the first base ones from the stack of items to a slice of their
// own.
func (d *decoder) takeItems(base int) []*Value {
	out := d.take(len(d.items) - base)
	copy(out, d.items[base:])
	d.items = d.items[:base]
	return out
}

// takeNames moves the keys beyond the first base ones from the stack of keys to a slice of their
// own.
func (d *decoder) takeNames(base int) []string {
	n, at := len(d.names)-base, len(d.keys)
	if n > cap(d.keys)-at {
		d.keys, at = make([]string, 0, max(n, min(d.maxChunkSize(), max(firstChunk, 2*cap(d.keys))))), 0
	}
	d.keys = append(d.keys, d.names[base:]...)
	d.names = d.names[:base]
	return d.keys[at : at+n : at+n]
}

// at returns the path of the value being read, for problems and errors.
func (d *decoder) at() string {
	var b strings.Builder
	for _, s := range d.path {
		switch {
		case s.index >= 0:
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(s.index))
			b.WriteByte(']')
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// mismatch returns the error for a JSON value whose type does not fit t.
func (d *decoder) mismatch(what string, t *Type, offset int) error {
	path := d.at()
	text := "json: cannot unmarshal " + what + " into Go value of type " + t.goName()
	if path != "" {
		text = "json: cannot unmarshal " + what + " into Go struct field " + d.root + "." + path + " of type " + t.goName()
	}
	return &valueError{text: text + " (offset " + strconv.Itoa(offset) + ")", path: path, offset: offset}
}

// malformed returns the error for text that does not have the format of its type.
func (d *decoder) malformed(why string, offset int) error {
	path := d.at()
	return &valueError{text: path + ": " + why + " (offset " + strconv.Itoa(offset) + ")", path: path, offset: offset}
}

// goName returns the type's name in Go, which error messages contain.
func (t *Type) goName() string {
	switch t.Form {
	case FormMessage:
		return t.message.Name
	case FormList:
		return "[]" + t.elem.goName()
	case FormMap:
		return "map[string]" + t.elem.goName()
	case FormBool:
		return "bool"
	case FormInt32:
		return "int32"
	case FormInt64:
		return "int64"
	case FormUint32:
		return "uint32"
	case FormDouble:
		return "float64"
	case FormBytes:
		return "[]uint8"
	case FormTime:
		return "Time"
	case FormMicroTime:
		return "MicroTime"
	case FormQuantity:
		return "Quantity"
	case FormIntOrString:
		return "IntOrString"
	default:
		return "string"
	}
}

// read reads a value of type t. It returns nil for null.
func (d *decoder) read(t *Type, depth int) (*Value, error) {
	if depth > maxDepth {
		return nil, d.tooDeep()
	}
	c := d.space()
	if c == 'n' {
		return nil, d.literal("null")
	}
	switch t.Form {
	case FormMessage:
		if t.message.Spec.Union {
			return d.readUnion(t, c, depth)
		}
		if c == '{' {
			return d.readMessage(t, depth)
		}
	case FormList:
		if c == '[' {
			return d.readList(t, depth)
		}
	case FormMap:
		if c == '{' {
			return d.readMap(t, depth)
		}
	case FormRaw:
		return d.readRaw(t, depth)
	default:
		return d.readScalar(t, c, depth)
	}
	return nil, d.wrongType(c, t, depth)
}

// wrongType returns the error for a value that does not fit t. It reads the value first, so that
// malformed JSON is reported as such.
func (d *decoder) wrongType(c byte, t *Type, depth int) error {
	offset := d.pos
	if err := d.skip(depth); err != nil {
		return err
	}
	what := "number"
	switch c {
	case '{':
		what = "object"
	case '[':
		what = "array"
	case '"':
		what = "string"
	case 't', 'f':
		what = "bool"
	}
	return d.mismatch(what, t, offset)
}

func (d *decoder) readMessage(t *Type, depth int) (*Value, error) {
	m := t.message
	v := d.value(t)
	if d.taken += len(m.fields); d.taken > maxSlots {
		return nil, limit.Reached(limit.Fields, d.malformed("the object holds too many messages", d.pos))
	}
	v.box = d.box()
	v.box.kids = d.take(len(m.fields))
	var seen [maxFields / 64]uint64
	base, named := len(d.items), len(d.names)
	for more, err := d.open('}'); more || err != nil; more, err = d.next('}', "after object key:value pair") {
		if err != nil {
			return nil, err
		}
		name, err := d.key()
		if err != nil {
			return nil, err
		}
		d.path = append(d.path, decodeStep{name: name, index: -1})
		f := m.byName[name]
		switch {
		case f == nil && m.open != nil:
			err = d.readOpen(m, name, depth)
		case f == nil:
			err = d.skipUnknown(depth)
		default:
			word, bit := f.index/64, uint64(1)<<(f.index%64)
			if seen[word]&bit != 0 {
				d.problems.add("duplicate field", d.at())
			}
			seen[word] |= bit
			v.box.kids[f.index], err = d.read(f.Type, depth+1)
		}
		if err != nil {
			return nil, err
		}
		d.path = d.path[:len(d.path)-1]
	}
	if m.open != nil {
		d.keepOpen(v, base, named)
	}
	return v, nil
}

// zero returns the zero value of a type, which counts as one that was read.
func (d *decoder) zero(t *Type) (*Value, error) {
	if t.message != nil {
		if d.taken += len(t.message.fields); d.taken > maxSlots {
			return nil, limit.Reached(limit.Fields, d.malformed("the object holds too many messages", d.pos))
		}
	}
	return t.New(), nil
}

// skipUnknown skips an unknown field and records it as a problem.
func (d *decoder) skipUnknown(depth int) error {
	d.problems.add("unknown field", d.at())
	return d.skip(depth + 1)
}

func (d *decoder) readList(t *Type, depth int) (*Value, error) {
	v, base := d.value(t), len(d.items)
	v.box = d.box()
	for more, err := d.open(']'); more || err != nil; more, err = d.next(']', "after array element") {
		if err != nil {
			return nil, err
		}
		d.path = append(d.path, decodeStep{index: len(d.items) - base})
		item, err := d.read(t.elem, depth+1)
		if err != nil {
			return nil, err
		}
		if item == nil { // null stands for an empty item
			if item, err = d.zero(t.elem); err != nil {
				return nil, err
			}
		}
		d.items = append(d.items, item)
		d.path = d.path[:len(d.path)-1]
	}
	v.box.kids = d.takeItems(base)
	return v, nil
}

func (d *decoder) readMap(t *Type, depth int) (*Value, error) {
	v, base, named := d.value(t), len(d.items), len(d.names)
	v.box = d.box()
	sorted := true
	for more, err := d.open('}'); more || err != nil; more, err = d.next('}', "after object key:value pair") {
		if err != nil {
			return nil, err
		}
		key, err := d.key()
		if err != nil {
			return nil, err
		}
		d.path = append(d.path, decodeStep{name: key, index: -1})
		item, err := d.read(t.elem, depth+1)
		if err != nil {
			return nil, err
		}
		if item == nil {
			if item, err = d.zero(t.elem); err != nil {
				return nil, err
			}
		}
		d.path = d.path[:len(d.path)-1]
		sorted = sorted && (len(d.names) == named || d.names[len(d.names)-1] < key)
		d.names, d.items = append(d.names, key), append(d.items, item)
	}
	v.box.kids, v.box.keys = d.takeItems(base), d.takeNames(named)
	if !sorted {
		d.sortMap(v.box)
	}
	return v, nil
}

// sortMap sorts entries by key. Of entries with equal keys it keeps the last.
func (d *decoder) sortMap(b *box) {
	order := make([]int, len(b.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return strings.Compare(b.keys[i], b.keys[j]) })
	keys, kids := make([]string, 0, len(b.keys)), make([]*Value, 0, len(b.keys))
	for _, i := range order {
		if n := len(keys); n > 0 && keys[n-1] == b.keys[i] {
			d.path = append(d.path, decodeStep{name: b.keys[i], index: -1})
			d.problems.add("duplicate field", d.at())
			d.path = d.path[:len(d.path)-1]
			kids[n-1] = b.kids[i]
			continue
		}
		keys, kids = append(keys, b.keys[i]), append(kids, b.kids[i])
	}
	b.keys, b.kids = keys, kids
}
