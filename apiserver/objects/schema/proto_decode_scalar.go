package schema

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"quorate/apiserver/limit"
)

// The range of times in Unix seconds, 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z, because RFC
// 3339 has years of four digits.
const (
	firstSecond    = -62167219200
	lastSecond     = 253402300799
	lastNanosecond = 999999999
)

// key reads the field number and wire type of a field.
func (d *protoDecoder) key(end int) (uint64, error) {
	start := d.pos
	key, err := d.varint(end)
	if err != nil {
		return 0, err
	}
	if n := key >> wireTypeBits; n == 0 || n > maxNumber {
		return 0, d.protoError("illegal field number "+strconv.FormatUint(n, 10), start)
	}
	return key, nil
}

func (d *protoDecoder) varint(end int) (n uint64, err error) {
	for shift := uint(0); shift < 64; shift += 7 {
		if d.pos >= end {
			return 0, d.protoError("unexpected end of data", d.pos)
		}
		b := d.s[d.pos]
		d.pos++
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, nil
		}
	}
	return 0, d.protoError("a varint is longer than ten bytes", d.pos)
}

// sized reads the length of a field's content and returns the position at which the content ends.
func (d *protoDecoder) sized(key uint64, end int) (stop int, err error) {
	if key&wireTypeMask != wireBytes {
		return 0, d.wrongWire(key)
	}
	n, err := d.varint(end)
	if err != nil {
		return 0, err
	}
	if n > uint64(end-d.pos) {
		return 0, d.protoError("unexpected end of data", d.pos)
	}
	return d.pos + int(n), nil
}

// bytes reads a field of bytes, which need not be valid UTF-8.
func (d *protoDecoder) bytes(key uint64, end int) (string, error) {
	stop, err := d.sized(key, end)
	if err != nil {
		return "", err
	}
	s := d.s[d.pos:stop]
	d.pos = stop
	return s, nil
}

func (d *protoDecoder) text(key uint64, end int) (string, error) {
	start := d.pos
	s, err := d.bytes(key, end)
	if err == nil && !utf8.ValidString(s) {
		return "", d.protoError("a string holds invalid UTF-8", start)
	}
	return s, err
}

func (d *protoDecoder) number(key uint64, end int) (uint64, error) {
	if key&wireTypeMask != wireVarint {
		return 0, d.wrongWire(key)
	}
	return d.varint(end)
}

// protoError returns the error for bytes that are not valid protobuf.
func (d *protoDecoder) protoError(why string, offset int) error {
	return d.malformed("proto: "+why, offset)
}

func (d *protoDecoder) wrongWire(key uint64) error {
	return d.protoError("wrong wire type "+strconv.FormatUint(key&wireTypeMask, 10)+" for field "+
		strconv.FormatUint(key>>wireTypeBits, 10), d.pos)
}

// skipField skips an unknown field. It skips a group with all of its content.
func (d *protoDecoder) skipField(key uint64, end, depth int) error {
	if depth > maxDepth {
		return limit.Reached(limit.Nesting, d.protoError("exceeded max depth", d.pos))
	}
	switch key & wireTypeMask {
	case wireVarint:
		_, err := d.varint(end)
		return err
	case wireBytes:
		stop, err := d.sized(key, end)
		if err == nil {
			d.pos = stop
		}
		return err
	case wireFixed64:
		return d.pass(8, end)
	case wireFixed32:
		return d.pass(4, end)
	case wireGroup:
		return d.skipGroup(key>>wireTypeBits, end, depth)
	}
	return d.wrongWire(key)
}

func (d *protoDecoder) pass(n, end int) error {
	if n > end-d.pos {
		return d.protoError("unexpected end of data", d.pos)
	}
	d.pos += n
	return nil
}

func (d *protoDecoder) skipGroup(number uint64, end, depth int) error {
	for {
		key, err := d.key(end)
		if err != nil {
			return err
		}
		if key == number<<wireTypeBits|wireEnd {
			return nil
		}
		if err := d.skipField(key, end, depth+1); err != nil {
			return err
		}
	}
}

// scalar reads a value that is not a message, list or map. It returns nil for an unset time or
// rawExtension.
func (d *protoDecoder) scalar(t *Type, key uint64, end, depth int) (*Value, error) {
	switch t.Form {
	case FormTime, FormMicroTime, FormQuantity, FormIntOrString, FormRaw:
		return d.scalarMessage(t, key, end, depth)
	}
	v, err := d.value(t), error(nil)
	switch t.wireType() {
	case wireVarint:
		var n uint64
		n, err = d.number(key, end)
		v.num = narrow(t.Form, n)
	case wireFixed64:
		if key&wireTypeMask != wireFixed64 {
			return nil, d.wrongWire(key)
		}
		start := d.pos
		if err = d.pass(8, end); err == nil {
			v.num = int64(binary.LittleEndian.Uint64([]byte(d.s[start:d.pos])))
			if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
				err = d.malformed("no number in JSON", start)
			}
		}
	default:
		if t.Form == FormBytes {
			v.str, err = d.bytes(key, end)
		} else {
			v.str, err = d.text(key, end)
		}
	}
	return v, err
}

// narrow truncates a varint to the width of its type, as protobuf requires.
func narrow(form Form, n uint64) int64 {
	switch form {
	case FormBool:
		if n != 0 {
			return 1
		}
		return 0
	case FormInt32:
		return int64(int32(n))
	case FormUint32:
		return int64(uint32(n))
	}
	return int64(n)
}

// parts are the fields of a message that encodes a scalar: up to two numbers, and a text whose
// field number is 1 or 3.
type parts struct {
	first, second int64
	text          string
}

// scalarMessage reads a scalar that protobuf encodes as a message; see types/scalars.yaml.
func (d *protoDecoder) scalarMessage(t *Type, key uint64, end, depth int) (*Value, error) {
	stop, err := d.sized(key, end)
	if err != nil {
		return nil, err
	}
	if t.tree != nil {
		return d.treeText(t, stop, depth+1)
	}
	start := d.pos
	var p parts
	for d.pos < stop {
		if err := d.part(&p, t.Form, stop, depth+1); err != nil {
			return nil, err
		}
	}
	switch t.Form {
	case FormTime, FormMicroTime:
		return d.timeOf(t, p, start, stop)
	case FormQuantity:
		return d.quantityOf(t, p, start)
	case FormIntOrString:
		return d.intOrStringOf(t, p, start)
	default:
		return d.rawOf(t, p, start)
	}
}

func (d *protoDecoder) part(p *parts, form Form, stop, depth int) error {
	key, err := d.key(stop)
	if err != nil {
		return err
	}
	var n uint64
	number := key >> wireTypeBits
	switch {
	case number == firstInsideEntry && form == FormRaw:
		p.text, err = d.bytes(key, stop)
	case number == firstInsideEntry && form == FormQuantity, number == thirdInside && form == FormIntOrString:
		p.text, err = d.text(key, stop)
	case number == firstInsideEntry:
		n, err = d.number(key, stop)
		p.first = int64(n)
	case number == secondInside && (form == FormTime || form == FormMicroTime || form == FormIntOrString):
		n, err = d.number(key, stop)
		p.second = int64(int32(n))
	default:
		err = d.skipUnknownField(key, stop, depth)
	}
	return err
}

// timeOf returns the time with {seconds, nanos}, truncated to the resolution of the type. It
// returns nil, for unset, if the message is empty or the time is zero.
func (d *protoDecoder) timeOf(t *Type, p parts, start, stop int) (*Value, error) {
	if start == stop {
		return nil, nil
	}
	if p.first < firstSecond || p.first > lastSecond {
		return nil, d.malformed("year outside of range [0,9999]", start)
	}
	if p.second < 0 || p.second > lastNanosecond {
		return nil, d.malformed("nanoseconds outside of range [0,999999999]", start)
	}
	v := d.value(t)
	if v.SetTime(time.Unix(p.first, p.second)); v.Time().IsZero() {
		return nil, nil
	}
	return v, nil
}

func (d *protoDecoder) quantityOf(t *Type, p parts, start int) (*Value, error) {
	v := d.value(t)
	if p.text == "" { // other encoders omit an empty text
		v.str = "0"
		return v, nil
	}
	text, err := canonicalQuantity(p.text, t.roundUp)
	if err != nil {
		return nil, d.malformed(err.Error(), start)
	}
	v.str = text
	return v, nil
}

func (d *protoDecoder) intOrStringOf(t *Type, p parts, start int) (*Value, error) {
	v := d.value(t)
	switch p.first {
	case 0:
		v.num = p.second
	case 1:
		v.str, v.box = p.text, textual
	default:
		return nil, d.malformed("impossible IntOrString.Type", start)
	}
	return v, nil
}

// rawOf parses the JSON text that the message contains.
func (d *protoDecoder) rawOf(t *Type, p parts, start int) (*Value, error) {
	if p.text == "" {
		return nil, nil
	}
	v, err := newDecoder(p.text).documentAt(t, len(d.path))
	if err != nil {
		return nil, d.malformed("json parse error: "+err.Error(), start)
	}
	return v, nil
}
