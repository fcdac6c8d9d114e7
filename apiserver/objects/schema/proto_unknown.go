package schema

import (
	"strconv"
	"strings"
)

// skipUnknownField skips an unknown field and records it as a problem, with its number instead of
// its name: `unknown field "spec.<number 33>"`. A field whose value is unset is no problem, because
// upstream's encoders write such fields (see unset).
func (d *protoDecoder) skipUnknownField(key uint64, end, depth int) error {
	start := d.pos
	if err := d.skipField(key, end, depth); err != nil {
		return err
	}
	number := key >> wireTypeBits
	if (&protoDecoder{decoder: decoder{scanner: scanner{s: d.s, pos: start}}}).unset(key, d.pos, depth) {
		return nil
	}
	d.path = append(d.path, decodeStep{name: "<number " + strconv.FormatUint(number, 10) + ">", index: -1})
	d.problems.add("unknown field", d.at())
	d.path = d.path[:len(d.path)-1]
	return nil
}

// unset reads the value of a field whose type is unknown, and reports whether it is what upstream's
// encoders write for a field that is not set: zero, an empty string, or a message in which every
// field is unset. key is the field's key, which the caller has read. end is where the message ends
// that contains the field, and depth is the nesting depth of that message.
func (d *protoDecoder) unset(key uint64, end, depth int) bool {
	switch key & wireTypeMask {
	case wireVarint:
		n, err := d.varint(end)
		return err == nil && n == 0
	case wireBytes:
		stop, err := d.sized(key, end)
		if err != nil || depth > maxDepth {
			return false
		}
		for d.pos < stop {
			inner, err := d.key(stop)
			if err != nil || !d.unset(inner, stop, depth+1) {
				return false
			}
		}
		return true
	case wireFixed64:
		return d.zeros(8, end)
	case wireFixed32:
		return d.zeros(4, end)
	}
	return false // a group: upstream has none
}

// zeros skips n bytes, and reports whether they are there and all zero.
func (d *protoDecoder) zeros(n, end int) bool {
	if d.pass(n, end) != nil {
		return false
	}
	return strings.Trim(d.s[d.pos-n:d.pos], "\x00") == ""
}
