package schema

import (
	"fmt"
	"math"
	"strconv"

	"quorate/apiserver/limit"
)

// A rawExtension with protoMessage is a JSON text in memory, in storage and in JSON. In protobuf it
// is a message, whose form is that of the text. The tree of such a text is made when it is encoded
// or decoded, because nothing else needs it: an object in memory has the text alone.

// textOfMessage returns the type of a rawExtension that protobuf has as a message.
func (c *compiler) textOfMessage(t *Type, s *FieldSpec, of setting) (*Type, error) {
	if t.Form != FormRaw {
		return nil, fmt.Errorf("protoMessage: %s is not rawExtension", s.Type)
	}
	tree, err := c.message(s.ProtoMessage, of)
	if err != nil {
		return nil, err
	}
	return c.shared(s.Type+" as "+s.ProtoMessage, of, Type{Form: FormRaw, tree: tree}), nil
}

// readTree reads a text that protobuf has as a message, and keeps the message as the value's only
// kid.
func (d *decoder) readTree(t *Type, depth int) (*Value, error) {
	start := d.pos
	d.inTree = true
	tree, err := d.read(t.tree, depth)
	d.inTree = false
	if err != nil {
		return nil, err
	}
	v := d.value(t)
	v.str, v.box = d.s[start:d.pos], d.box()
	v.box.kids = d.take(1)
	v.box.kids[0] = tree
	return v, nil
}

// tree returns the message that protobuf has in place of the text of v, whose type is t. It is
// empty for a text that is not such a message, which CheckTrees refuses.
func (v *Value) tree(t *Type) *Value {
	if v == nil {
		return t.tree.New()
	}
	if v.box != nil {
		return v.box.kids[0]
	}
	tree, err := decodeTree(v, &decoder{})
	if err != nil || tree == nil {
		return t.tree.New()
	}
	return tree
}

// decodeTree decodes the text of v as the message that protobuf has. It counts the slots of the
// message in d.
func decodeTree(v *Value, d *decoder) (*Value, error) {
	taken := d.taken
	*d = *newDecoder(v.str)
	d.path, d.taken, d.inTree = d.pathRoom[:0], taken, true
	return d.document(v.typ.tree)
}

// reportTree adds the unknown and duplicate fields of the text of v, which CanonicalizeTree drops, to
// the problems. It reports nothing about a text that CheckTrees refuses.
func (d *decoder) reportTree(v *Value) {
	text := newDecoder(v.str)
	text.path, text.problems, text.taken, text.inTree = append(text.path, d.path...), d.problems, d.reported, true
	_, err := text.document(v.typ.tree)
	if d.reported = text.taken; err == nil {
		d.problems = text.problems
	}
}

// treeText reads the message that protobuf has in place of a text, and returns the text. Where the
// field occurs twice, the last occurrence counts.
func (d *protoDecoder) treeText(t *Type, stop, depth int) (*Value, error) {
	outer := d.unsorted
	d.unsorted = nil
	tree := d.value(t.tree)
	if err := d.message(tree, stop, depth); err != nil {
		return nil, err
	}
	for b := range d.unsorted {
		d.sortMap(b)
	}
	d.unsorted = outer
	v := d.value(t)
	v.str = string(tree.AppendJSON(nil))
	return v, nil
}

// CheckTrees returns an error if a text in v that protobuf has as a message is no such message, or
// if v is too large in this form. What passes can be served in protobuf.
func (v *Value) CheckTrees() error { return v.checkTrees(&decoder{}) }

func (v *Value) checkTrees(d *decoder) error {
	if v == nil || v.typ.Form == FormIntOrString {
		return nil
	}
	if v.typ.tree != nil {
		_, err := decodeTree(v, d)
		return err
	}
	if v.box == nil {
		return nil
	}
	if v.typ.message != nil {
		if d.taken += len(v.box.kids); d.taken > maxSlots {
			return limit.Reached(limit.Fields, d.malformed("the object holds too many messages", 0))
		}
	}
	for _, kid := range v.box.kids {
		if err := kid.checkTrees(d); err != nil {
			return err
		}
	}
	return nil
}

// CanonicalizeTree gives a text that protobuf has as a message the form that it has when it comes
// in protobuf: the fields of each message in their order, without those that are empty.
func (v *Value) CanonicalizeTree() error {
	if v == nil || v.typ.tree == nil {
		return nil
	}
	text, err := canonicalTree(v)
	if err != nil {
		return err
	}
	v.str = text
	return nil
}

// sameTree reports whether two texts that protobuf has as a message are in the same canonical form.
// A text that is no such message is the same as no other.
func sameTree(a, b *Value) bool {
	one, err := canonicalTree(a)
	if err != nil {
		return false
	}
	other, err := canonicalTree(b)
	return err == nil && one == other
}

func canonicalTree(v *Value) (string, error) {
	tree, err := decodeTree(v, &decoder{})
	if err != nil {
		return "", err
	}
	return string(tree.AppendJSON(nil)), nil
}

// wholeText returns the digits of a whole number that is written with a fraction or an exponent,
// such as 5.0 or 1e3, and whether it is one.
func wholeText(text string) (string, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return text, false
	}
	return strconv.FormatInt(int64(f), 10), true
}

// appendFloat writes a number as encoding/json does: with an exponent only if it is very small or
// large.
func appendFloat(out []byte, f float64) []byte {
	if a := math.Abs(f); a == 0 || a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	start := len(out)
	out = strconv.AppendFloat(out, f, 'e', -1, 64)
	if n := len(out); n-start >= 4 && out[n-4] == 'e' && out[n-3] == '-' && out[n-2] == '0' { // e-09 is e-9
		out[n-2] = out[n-1]
		out = out[:n-1]
	}
	return out
}

// rawText returns the text of a rawExtension as protobuf has it: nothing for null.
func rawText(v *Value) string {
	if s := v.Str(); s != "null" {
		return s
	}
	return ""
}
