package schema

import (
	"encoding/base64"
	"math"
	"strconv"
)

func (d *decoder) readScalar(t *Type, c byte, depth int) (*Value, error) {
	start := d.pos
	switch {
	case c == '"':
		s, err := d.str()
		if err != nil {
			return nil, err
		}
		return d.fromText(t, s, start)
	case c == '-' || c >= '0' && c <= '9':
		text, whole, err := d.number()
		if err != nil {
			return nil, err
		}
		return d.fromNumber(t, text, whole, start)
	case (c == 't' || c == 'f') && t.Form == FormBool:
		v := d.value(t)
		if c == 't' {
			v.num = 1
			return v, d.literal("true")
		}
		return v, d.literal("false")
	}
	return nil, d.wrongType(c, t, depth)
}

func (d *decoder) fromText(t *Type, s string, start int) (*Value, error) {
	v := d.value(t)
	switch t.Form {
	case FormString:
		v.str = s
	case FormIntOrString:
		v.str, v.box = s, textual
	case FormQuantity:
		text, err := canonicalQuantity(s, t.roundUp)
		if err != nil {
			return nil, d.malformed(err.Error(), start)
		}
		v.str = text
	case FormTime, FormMicroTime:
		instant, err := parseTime(s, t.timeLayout())
		if err != nil {
			return nil, d.malformed(err.Error(), start)
		}
		if v.SetTime(instant); v.Time().IsZero() {
			return nil, nil
		}
	case FormBytes:
		raw, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return nil, d.malformed(err.Error(), start)
		}
		v.str = string(raw)
	default:
		return nil, d.mismatch("string", t, start)
	}
	return v, nil
}

func (d *decoder) fromNumber(t *Type, text string, whole bool, start int) (*Value, error) {
	v := d.value(t)
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	switch t.Form {
	case FormQuantity:
		canonical, err := canonicalQuantity(text, t.roundUp)
		if err != nil {
			return nil, d.malformed(err.Error(), start)
		}
		v.str = canonical
		return v, nil
	case FormDouble:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, d.mismatch("number "+text, t, start)
		}
		v.SetFloat(f)
		return v, nil
	case FormInt32, FormIntOrString:
		low, high = math.MinInt32, math.MaxInt32
	case FormUint32:
		low, high = 0, math.MaxUint32
	case FormInt64:
	default:
		return nil, d.mismatch("number", t, start)
	}
	if d.inTree && !whole {
		text, whole = wholeText(text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !whole || n < low || n > high {
		return nil, d.mismatch("number "+text, t, start)
	}
	v.num = n
	return v, nil
}
