package schema

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
)

// fieldChecks are the checks of a field's value, or of its items, keys and values.
type fieldChecks struct {
	enum, itemEnum         []string
	format, item           *format
	key, value             *format
	min, max               *int64
	itemMin, itemMax       *int64
	valueMin               *int64
	minItems               int
	maxTotalBytes          int  // of keys and values
	maxValueBytes          int  // of values alone
	portNumbers            bool // numbers must be ports (format portNumberOrName)
	validators             []Validator
	scalar, entries, items bool // which groups of checks are present
}

// checks compiles a field's checks. It returns nil if the field has none.
func (c *compiler) checks(f *Field) (*fieldChecks, error) {
	s := f.Spec
	ch := &fieldChecks{
		enum: s.Enum, itemEnum: s.ItemEnum, min: s.Min, max: s.Max, itemMin: s.ItemMin, itemMax: s.ItemMax,
		valueMin: s.ValueMin, minItems: s.MinItems, maxTotalBytes: s.MaxTotalBytes, maxValueBytes: s.MaxValueBytes,
		portNumbers: s.Format == "portNumberOrName",
	}
	var err error
	for _, want := range []struct {
		key  string
		name string
		to   **format
	}{{"format", s.Format, &ch.format}, {"itemFormat", s.ItemFormat, &ch.item}, {"keyFormat", s.KeyFormat, &ch.key}, {"valueFormat", s.ValueFormat, &ch.value}} {
		if *want.to, err = c.format(want.name); err != nil {
			return nil, fmt.Errorf("%s: %w", want.key, err)
		}
	}
	if ch.validators, err = resolve(c, c.hooks.Validators, "validate", s.Validate...); err != nil {
		return nil, err
	}
	ch.scalar = ch.enum != nil || ch.format != nil || ch.min != nil || ch.max != nil
	ch.items = ch.itemEnum != nil || ch.item != nil || ch.itemMin != nil || ch.itemMax != nil || ch.minItems > 0
	ch.entries = ch.key != nil || ch.value != nil || ch.valueMin != nil || ch.maxTotalBytes > 0 || ch.maxValueBytes > 0
	if err := ch.checkApplicable(f.Type); err != nil {
		return nil, err
	}
	if !ch.scalar && !ch.items && !ch.entries && len(ch.validators) == 0 {
		return nil, nil
	}
	return ch, nil
}

// checkApplicable returns an error if some check does not apply to the type.
func (ch *fieldChecks) checkApplicable(t *Type) error {
	if ch.items && t.Form != FormList {
		return fmt.Errorf("item checks on a field that is not a list")
	}
	if ch.entries && t.Form != FormMap {
		return fmt.Errorf("checks of keys and values on a field that is not a map")
	}
	if ch.scalar && (t.Form == FormList || t.Form == FormMap || t.Form == FormMessage) {
		return fmt.Errorf("scalar checks on a field that is not a scalar")
	}
	return nil
}

func (c *compiler) format(name string) (*format, error) {
	if name == "" || isNameRuleFormat(name) {
		return nil, nil
	}
	f, ok := c.formats[name]
	if !ok {
		return nil, fmt.Errorf("there is no format %q", name)
	}
	return &f, nil
}

// run checks a value that is not empty, or any set value of a pointer field.
func (ch *fieldChecks) run(c *Context, v *Value) {
	if ch.scalar {
		ch.checkScalar(c, v)
	}
	if ch.items {
		ch.checkItems(c, v)
	}
	if ch.entries {
		ch.checkEntries(c, v)
	}
	for _, validate := range ch.validators {
		validate(c, v)
	}
}

func (ch *fieldChecks) checkScalar(c *Context, v *Value) {
	if ch.enum != nil && !slices.Contains(ch.enum, v.str) {
		c.NotSupported(v.str, ch.enum)
	}
	if ch.format != nil {
		switch {
		case v.typ.Form != FormIntOrString || v.IsText():
			checkText(c, ch.format, v.str)
		case ch.portNumbers:
			for _, why := range validation.IsValidPortNum(int(v.num)) {
				c.Invalid(v.num, why)
			}
		case v.num < 0:
			c.Invalid(v.num, "must be greater than or equal to 0")
		}
	}
	if v.typ.Form == FormQuantity {
		if ch.min != nil {
			checkQuantity(c, *ch.min, v)
		}
		return
	}
	checkRange(c, ch.min, ch.max, v.num)
}

func checkText(c *Context, f *format, s string) {
	if f.ok(s) {
		return
	}
	for _, why := range f.explain(s) {
		c.Invalid(s, why)
	}
}

func checkRange(c *Context, low, high *int64, n int64) {
	switch {
	case low != nil && high != nil && (n < *low || n > *high):
		c.Invalid(n, validation.InclusiveRangeError(int(*low), int(*high)))
	case low != nil && n < *low:
		c.Invalid(n, fmt.Sprintf("must be greater than or equal to %d", *low))
	case high != nil && n > *high:
		c.Invalid(n, fmt.Sprintf("must be less than or equal to %d", *high))
	}
}

// checkQuantity checks that a quantity is at least low. For 0, the only minimum that the files
// declare, it looks at the sign only.
func checkQuantity(c *Context, low int64, v *Value) {
	if low == 0 && (v.str == "" || v.str[0] != '-') {
		return
	}
	q := v.Quantity()
	if q.CmpInt64(low) < 0 {
		c.Invalid(v.str, fmt.Sprintf("must be greater than or equal to %d", low))
	}
}

func (ch *fieldChecks) checkItems(c *Context, v *Value) {
	if n := v.Len(); n < ch.minItems {
		c.Required(fmt.Sprintf("must have at least %d items", ch.minItems))
	}
	for i, item := range v.box.kids {
		if ch.item == nil || ch.item.ok(item.str) {
			if ch.itemEnum == nil && ch.itemMin == nil && ch.itemMax == nil {
				continue
			}
		}
		c.EnterIndex(i, item)
		if ch.item != nil {
			checkText(c, ch.item, item.str)
		}
		if ch.itemEnum != nil && !slices.Contains(ch.itemEnum, item.str) {
			c.NotSupported(item.str, ch.itemEnum)
		}
		checkRange(c, ch.itemMin, ch.itemMax, item.num)
		c.Leave()
	}
}

func (ch *fieldChecks) checkEntries(c *Context, v *Value) {
	total, values := 0, 0
	for i, key := range v.box.keys {
		item := v.box.kids[i]
		total += len(key) + len(item.str)
		values += len(item.str)
		if ch.key != nil && !ch.key.ok(key) {
			checkEntry(c, ch.key, key, key, item)
		}
		if ch.value != nil && !ch.value.ok(item.str) {
			checkEntry(c, ch.value, item.str, key, item)
		}
		if ch.valueMin != nil {
			c.EnterKey(key, item)
			if item.typ.Form == FormQuantity {
				checkQuantity(c, *ch.valueMin, item)
			} else {
				checkRange(c, ch.valueMin, nil, item.num)
			}
			c.Leave()
		}
	}
	if ch.maxTotalBytes > 0 && total > ch.maxTotalBytes {
		c.TooLong(ch.maxTotalBytes)
	}
	if ch.maxValueBytes > 0 && values > ch.maxValueBytes {
		c.TooLong(ch.maxValueBytes)
	}
}

// checkEntry reports invalid text of a map entry: at the map for label formats, else at the entry.
func checkEntry(c *Context, f *format, text, key string, item *Value) {
	if f.onMap {
		checkText(c, f, text)
		return
	}
	c.EnterKey(key, item)
	checkText(c, f, text)
	c.Leave()
}
