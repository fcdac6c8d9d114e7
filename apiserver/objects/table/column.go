package table

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"quorate/apiserver/objects/schema"
)

// The types of columns.
const (
	typeString  = "string"
	typeInteger = "integer"
	typeBoolean = "boolean"
)

// column is a compiled column.
type column struct {
	spec   *schema.ColumnSpec
	path   path
	render renderer // zero if the cell is the value at the path
}

// source is the input of a cell: an object, the path of the column, and the time.
type source struct {
	root *schema.Value
	path path
	now  time.Time
}

// value returns the value at the path, or nil.
func (s *source) value() *schema.Value { return s.path.one(s.root) }

// compile compiles a column for objects of a type.
func compile(spec *schema.ColumnSpec, object *schema.Type, known map[string]renderer) (column, error) {
	c := column{spec: spec}
	if spec.Name == "" || spec.Type != typeString && spec.Type != typeInteger && spec.Type != typeBoolean {
		return c, fmt.Errorf("a column must have a name and a type %s, %s or %s", typeString, typeInteger, typeBoolean)
	}
	if spec.Empty != "" && spec.Type != typeString {
		return c, fmt.Errorf("empty: a column of type %s is never empty", spec.Type)
	}
	var found *schema.Type
	if spec.Value != "" {
		var err error
		if c.path, found, err = compilePath(spec.Value, object); err != nil {
			return c, fmt.Errorf("value: %w", err)
		}
	}
	if spec.Render == "" {
		return c, checkPlain(spec, c.path, found)
	}
	r, ok := known[spec.Render]
	switch {
	case !ok:
		return c, fmt.Errorf("render: there is no renderer %q", spec.Render)
	case !r.makes(spec.Type):
		return c, fmt.Errorf("render: %s does not produce cells of type %s", spec.Render, spec.Type)
	case r.takes == nil && found != nil:
		return c, fmt.Errorf("render: %s does not take a value", spec.Render)
	case r.takes != nil && (found == nil || !r.takes(c.path, found)):
		return c, fmt.Errorf("render: %s does not accept value %q", spec.Render, spec.Value)
	}
	c.render = r
	return c, nil
}

// checkPlain returns an error if a value cannot be shown without a renderer.
func checkPlain(spec *schema.ColumnSpec, p path, t *schema.Type) error {
	if t == nil {
		return errors.New("neither value nor render")
	}
	fits := false
	switch t.Form {
	case schema.FormInt32, schema.FormInt64, schema.FormUint32:
		fits = spec.Type != typeBoolean
	case schema.FormBool:
		fits = spec.Type != typeInteger
	case schema.FormString, schema.FormQuantity, schema.FormTime, schema.FormMicroTime, schema.FormIntOrString:
		fits = spec.Type == typeString
	}
	if !fits || p.many() {
		return fmt.Errorf("value: %s is not of type %s and needs a renderer", spec.Value, spec.Type)
	}
	return nil
}

// appendCell appends a cell as JSON.
func (c *column) appendCell(b []byte, root *schema.Value, now time.Time) []byte {
	s := source{root: root, path: c.path, now: now}
	switch {
	case c.spec.Type == typeInteger:
		return strconv.AppendInt(b, c.number(&s), 10)
	case c.spec.Type == typeBoolean:
		return strconv.AppendBool(b, s.value().Bool())
	}
	text := c.text(&s)
	if text == "" {
		text = c.spec.Empty
	}
	return schema.AppendString(b, text)
}

func (c *column) number(s *source) int64 {
	if c.render.number != nil {
		return c.render.number(s)
	}
	return s.value().Int()
}

func (c *column) text(s *source) string {
	switch {
	case c.render.text != nil:
		return c.render.text(s)
	case c.render.number != nil:
		return strconv.FormatInt(c.render.number(s), 10)
	}
	return textOf(s.value())
}

// textOf returns a scalar as text, or "" if it is unset.
func textOf(v *schema.Value) string {
	if v == nil {
		return ""
	}
	switch v.Type().Form {
	case schema.FormInt32, schema.FormInt64, schema.FormUint32:
		return strconv.FormatInt(v.Int(), 10)
	case schema.FormBool:
		return strconv.FormatBool(v.Bool())
	case schema.FormTime, schema.FormMicroTime:
		return v.Time().Format(time.RFC3339)
	case schema.FormIntOrString:
		if !v.IsText() {
			return strconv.FormatInt(v.Int(), 10)
		}
	}
	return v.Str()
}
