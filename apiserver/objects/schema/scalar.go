package schema

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// microLayout is the layout of a time in microseconds. All six digits are required.
const microLayout = "2006-01-02T15:04:05.000000Z07:00"

// timeLayout returns the layout of times of type t.
func (t *Type) timeLayout() string {
	if t.Form == FormMicroTime {
		return microLayout
	}
	return time.RFC3339
}

// parseTime parses an RFC 3339 time and checks that its year has four digits.
func parseTime(s, layout string) (time.Time, error) {
	t, err := time.Parse(layout, s)
	if err != nil {
		return t, err
	}
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return t, fmt.Errorf("parsing time %q: year outside of range [0,9999]", s)
	}
	return t, nil
}

// maxQuantityLength limits the text of a quantity, because it is parsed with arbitrary precision.
const maxQuantityLength = 128

// canonicalQuantity returns the canonical text of a quantity. If roundUp is set, it rounds the
// quantity up to milli units.
func canonicalQuantity(s string, roundUp bool) (string, error) {
	if isCanonical(s) {
		return s, nil
	}
	if len(s) > maxQuantityLength || hugeExponent(s) {
		return "", errors.New("quantities must be at most 128 characters long, with an exponent of at most 3 digits")
	}
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return "", err
	}
	if roundUp {
		q.RoundUp(resource.Milli)
	}
	return quantityText(q), nil
}

// hugeExponent reports whether the exponent is so large that the library's arithmetic would take
// seconds.
func hugeExponent(s string) bool {
	i := strings.LastIndexAny(s, "eE")
	return i >= 0 && len(strings.TrimLeft(s[i+1:], "+-0")) > 3
}

// quantityText returns the canonical text of a quantity. Quantity.String would return the text that
// was parsed, if there is one.
func quantityText(q resource.Quantity) string {
	number, suffix := q.CanonicalizeBytes(make([]byte, 0, maxQuantityLength))
	return string(append(number, suffix...))
}

// isCanonical reports whether s is one of the common canonical quantities, without arithmetic on
// quantities: 0, or an integer of at most six digits that 1000 does not divide, with the suffix m,
// k, M, G or none, or that 1024 does not divide, with a suffix from Ki to Pi. For all others it
// returns false, even if they are canonical.
func isCanonical(s string) bool {
	n, i := 0, 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n = n*10 + int(s[i]-'0')
	}
	if i == 0 || i > 6 || s[0] == '0' {
		return s == "0"
	}
	switch suffix := s[i:]; suffix {
	case "Ki", "Mi", "Gi", "Ti", "Pi":
		return n%1024 != 0
	case "", "m", "k", "M", "G":
		return n%1000 != 0
	}
	return false
}

// readRaw reads any JSON value and stores it as compact text.
func (d *decoder) readRaw(t *Type, depth int) (*Value, error) {
	if d.trees && t.tree != nil {
		return d.readTree(t, depth)
	}
	start := d.pos
	if err := d.skip(depth); err != nil {
		return nil, err
	}
	v := d.value(t)
	v.str = compact(d.s[start:d.pos])
	if d.reports && t.tree != nil {
		d.reportTree(v)
	}
	return v, nil
}

// compact returns valid JSON text without white space and with its strings in canonical form.
func compact(s string) string {
	if !strings.ContainsAny(s, " \t\n\r\\") && asciiOnly(s) {
		return s
	}
	d := scanner{s: s}
	out := make([]byte, 0, len(s))
	for d.pos < len(d.s) {
		switch c := d.s[d.pos]; c {
		case ' ', '\t', '\n', '\r':
			d.pos++
		case '"':
			text, err := d.str()
			if err != nil { // cannot happen: the text was parsed before
				return s
			}
			out = AppendString(out, text)
		default:
			out = append(out, c)
			d.pos++
		}
	}
	return string(out)
}

func asciiOnly(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x7f {
			return false
		}
	}
	return true
}
