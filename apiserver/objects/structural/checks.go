package structural

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checks validates a value that is not null against all keywords but type, items, properties and
// required. typ and alternative are the types that the schema requires.
func (v *validator) checks(val *value, c *checks, typ, alternative kind) {
	v.passed += 3 // for the junctors, which always apply, and for enum
	v.junctors(val, c.alternatives)
	switch val.kind {
	case text:
		v.passed++
		v.str(val, c)
		if format := v.format(c); knownFormat(format) {
			v.passed++
			if !fitsFormat(format, val.text) {
				v.wrongFormat(format, val.text)
			}
		}
	case number:
		v.passed += 2
		if alternative != anyKind {
			typ = anyKind // The range of a type is checked only if there is one type.
		}
		v.number(val, c, typ)
	case array:
		v.count(c.sizes.items, int64(len(val.kids)), "items")
	case object:
		v.count(c.sizes.properties, int64(len(val.kids)), "properties")
	}
	v.enum(val, c)
}

func (s *sizes) items() (low, high *int64) {
	if s == nil {
		return nil, nil
	}
	return s.minItems, s.maxItems
}

func (s *sizes) properties() (low, high *int64) {
	if s == nil {
		return nil, nil
	}
	return s.minProperties, s.maxProperties
}

func (v *validator) wrongFormat(format, have string) {
	path := v.at()
	detail := fmt.Sprintf("%s in body must be of type %s: %q", path, format, have)
	v.fail(detail, field.TypeInvalid(v.field(path), have, detail))
}

// count checks the number of items or members.
func (v *validator) count(limits func() (low, high *int64), have int64, what string) {
	low, high := limits()
	if low != nil && have < *low {
		path := v.at()
		v.invalid(path, have, fmt.Sprintf("%s in body should have at least %d %s", path, *low, what))
	}
	if high != nil && have > *high {
		path := v.at()
		v.fail(fmt.Sprintf("%s in body should have at most %d %s", path, *high, what), field.TooMany(v.field(path), int(have), int(*high)))
	}
}

// str checks length and pattern, and reports the first violation.
func (v *validator) str(val *value, c *checks) {
	if s := c.sizes; s != nil && (s.maxLength != nil || s.minLength != nil) {
		n := int64(utf8.RuneCountInString(val.text))
		if s.maxLength != nil && n > *s.maxLength {
			path := v.at()
			v.fail(fmt.Sprintf("%s in body should be at most %d chars long", path, *s.maxLength), field.TooLong(v.field(path), "", int(*s.maxLength)))
			return
		}
		if s.minLength != nil && n < *s.minLength {
			path := v.at()
			v.invalid(path, val.text, fmt.Sprintf("%s in body should be at least %d chars long", path, *s.minLength))
			return
		}
	}
	if c.pattern != nil && v.spend(len(val.text)*c.pattern.size/4) && !c.pattern.match(v.programs, val.text) {
		path := v.at()
		v.invalid(path, val.text, fmt.Sprintf("%s in body should match '%s'", path, c.pattern.text))
	}
}

// enum checks that a value is one of those listed.
func (v *validator) enum(val *value, c *checks) {
	if len(c.enum) == 0 || !v.spend(len(c.enum)) {
		return
	}
	for i := range c.enum {
		if val.kind != null && enumerated(val, &c.enum[i]) {
			return
		}
	}
	if !v.room() {
		return
	}
	path := v.at()
	names, plain := make([]string, len(c.enum)), make([]any, len(c.enum))
	for i := range c.enum {
		names[i], plain[i] = c.enum[i].text, c.enum[i].plain()
		if c.enum[i].kind != text {
			names[i] = string(c.enum[i].appendTo(nil))
		}
	}
	v.fail(fmt.Sprintf("%s in body should be one of %v", path, plain), field.NotSupported(v.field(path), val.plain(), names))
}

// enumerated reports whether a value is the one listed. As in Kubernetes, numbers are compared as
// the one listed is written: 1.5 is the integer 1.
func enumerated(val, listed *value) bool {
	if val.kind != number || listed.kind != number {
		return equal(val, listed)
	}
	n, isWhole := val.whole()
	m, listedWhole := listed.whole()
	switch {
	case isWhole && listedWhole:
		return n == m
	case listedWhole:
		return int64(val.float()) == m
	default:
		return val.float() == listed.float()
	}
}

// number checks the range of a number's type and format, and the limits of the schema.
func (v *validator) number(val *value, c *checks, typ kind) {
	if typ != integer && typ != number {
		typ = anyKind
	}
	format := ""
	switch {
	case typ == integer && (c.format == "int32" || c.format == "int64"), typ == number && (c.format == "float" || c.format == "double"):
		format = c.format
	}
	n, isWhole := val.whole()
	v.inRange(val.float(), n, isWhole, typ, format, "Checked")
	b := c.limits()
	if b.multipleOf != nil {
		v.multiple(val, *b.multipleOf, v.limitInRange(*b.multipleOf, typ, format, "MultipleOf"))
	}
	if b.minimum != nil {
		exact := v.limitInRange(*b.minimum, typ, format, "Minimum boundary")
		v.limit(val, *b.minimum, exact, b.exclusiveMinimum, "greater than", func(order int) bool { return order > 0 })
	}
	if b.maximum != nil {
		exact := v.limitInRange(*b.maximum, typ, format, "Maximum boundary")
		v.limit(val, *b.maximum, exact, b.exclusiveMaximum, "less than", func(order int) bool { return order < 0 })
	}
}

// limitInRange reports whether a limit is a value of the type that it limits.
func (v *validator) limitInRange(limit float64, typ kind, format, what string) bool {
	return v.inRange(limit, 0, false, typ, format, what)
}

// inRange checks that a number is in the range of a type and format.
func (v *validator) inRange(f float64, n int64, isWhole bool, typ kind, format, what string) bool {
	if typ == integer && isWhole && (format != "int32" || n == int64(int32(n))) {
		return true
	}
	var err error
	switch {
	case typ == integer:
		digits := strconv.FormatInt(n, 10)
		if !isWhole {
			digits = strconv.FormatFloat(f, 'f', -1, 64)
		}
		bits := 64
		if format == "int32" {
			bits = 32
		}
		_, err = strconv.ParseInt(digits, 10, bits)
	case format == "float":
		_, err = strconv.ParseFloat(strconv.FormatFloat(f, 'f', -1, 64), 32)
	}
	if err == nil {
		return true
	}
	qualified := typ.String() + " (default format)"
	if format != "" {
		qualified = typ.String() + " with format " + format
	}
	v.whole(fmt.Sprintf("%s value must be of type %s in %s", what, qualified, v.at()))
	return false
}

func (v *validator) multiple(val *value, factor float64, exact bool) {
	path := v.at()
	n, isWhole := val.whole()
	isWhole = isWhole && exact
	if isWhole && int64(factor) <= 0 || !isWhole && factor <= 0 {
		shown := any(factor)
		if isWhole {
			shown = int64(factor)
		}
		v.invalid(path, shown, fmt.Sprintf("factor MultipleOf declared for %s must be positive: %v", path, shown))
		return
	}
	if isWhole {
		if f := int64(factor); n%f != 0 {
			v.invalid(path, n, fmt.Sprintf("%s in body should be a multiple of %v", path, f))
		}
		return
	}
	f := val.float()
	quotient := f / factor
	if factor < 1 {
		quotient = 1 / factor * f
	}
	if !integral(quotient) {
		v.invalid(path, f, fmt.Sprintf("%s in body should be a multiple of %v", path, factor))
	}
}

// limit checks a number against a limit. beyond tells whether an order, that of the number to the
// limit, is on the right side. Integers are compared as such with a limit that is exact.
func (v *validator) limit(val *value, limit float64, exact, exclusive bool, relation string, beyond func(order int) bool) {
	n, isWhole := val.whole()
	var order int
	var have, shown any
	if isWhole && exact {
		order, have, shown = compare(n, int64(limit)), n, int64(limit)
	} else {
		f := val.float()
		order, have, shown = compare(f, limit), f, limit
	}
	if beyond(order) || order == 0 && !exclusive {
		return
	}
	if !exclusive {
		relation += " or equal to"
	}
	path := v.at()
	v.invalid(path, have, fmt.Sprintf("%s in body should be %s %v", path, relation, shown))
}

func compare[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// junctors checks anyOf, oneOf, allOf and not, and reports the errors of the alternative that
// passed most checks.
func (v *validator) junctors(val *value, a *alternatives) {
	if a == nil {
		return
	}
	if len(a.anyOf) > 0 {
		v.anyOf(val, a.anyOf)
	}
	if len(a.oneOf) > 0 {
		v.oneOf(val, a.oneOf)
	}
	if len(a.allOf) > 0 {
		v.allOf(val, a.allOf)
	}
	if a.not != nil {
		if errs, _ := v.try(val, a.not); errs == nil {
			v.whole(fmt.Sprintf("%q must not validate the schema (not)", v.at()))
		}
	}
}

// try validates a value against a nested schema and returns the errors and the number of checks
// that passed, without recording either.
func (v *validator) try(val *value, n *nested) (errs []problem, passed int) {
	before, more, passedBefore := len(v.errs), v.more, v.passed
	v.nested(val, n)
	errs, passed = append(errs, v.errs[before:]...), v.passed-passedBefore
	v.errs, v.more, v.passed = v.errs[:before], more, passedBefore
	return errs, passed
}

func (v *validator) anyOf(val *value, list []*nested) {
	var best []problem
	most := math.MinInt
	for _, n := range list {
		errs, passed := v.try(val, n)
		if errs == nil {
			v.passed += passed
			return
		}
		if passed > most {
			best, most = errs, passed
		}
	}
	v.whole(fmt.Sprintf("%q must validate at least one schema (anyOf)", v.at()))
	v.failAll(best)
	v.passed += most
}

func (v *validator) oneOf(val *value, list []*nested) {
	var best []problem
	most, valid, first := math.MinInt, 0, 0
	for _, n := range list {
		errs, passed := v.try(val, n)
		if errs == nil {
			if valid++; valid == 1 {
				first = passed
			}
		} else if valid == 0 && passed > most {
			best, most = errs, passed
		}
	}
	switch valid {
	case 0:
		v.whole(fmt.Sprintf("%q must validate one and only one schema (oneOf). Found none valid", v.at()))
		v.failAll(best)
		v.passed += most
	case 1:
		v.passed += first
	default:
		v.whole(fmt.Sprintf("%q must validate one and only one schema (oneOf). Found %d valid alternatives", v.at(), valid))
	}
}

func (v *validator) allOf(val *value, list []*nested) {
	valid := 0
	for _, n := range list {
		errs, passed := v.try(val, n)
		v.failAll(errs)
		v.passed += passed
		if errs == nil {
			valid++
		}
	}
	if valid == len(list) {
		return
	}
	none := ""
	if valid == 0 {
		none = ". None validated"
	}
	v.whole(fmt.Sprintf("%q must validate all the schemas (allOf)%s", v.at(), none))
}
