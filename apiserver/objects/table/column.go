package table

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/table/cells"
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
	path   cells.Path
	render cells.Renderer // zero if the cell is the value at the path
}

// compile compiles a column for objects of a type.
func compile(spec *schema.ColumnSpec, object *schema.Type, known map[string]cells.Renderer) (column, error) {
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
		if c.path, found, err = cells.CompilePath(spec.Value, object); err != nil {
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
	case spec.Type != typeString && (spec.Type != typeInteger || r.Number == nil):
		return c, fmt.Errorf("render: %s does not produce cells of type %s", spec.Render, spec.Type)
	case r.Accepts == nil && found != nil:
		return c, fmt.Errorf("render: %s does not take a value", spec.Render)
	case r.Accepts != nil && (found == nil || !r.Accepts(c.path, found)):
		return c, fmt.Errorf("render: %s does not accept value %q", spec.Render, spec.Value)
	}
	c.render = r
	return c, nil
}

// checkPlain returns an error if a value cannot be shown without a renderer.
func checkPlain(spec *schema.ColumnSpec, p cells.Path, t *schema.Type) error {
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
	if !fits || p.Many() {
		return fmt.Errorf("value: %s is not of type %s and needs a renderer", spec.Value, spec.Type)
	}
	return nil
}

// appendCell appends a cell as JSON.
func (c *column) appendCell(b []byte, root *schema.Value, now time.Time) []byte {
	s := cells.Source{Object: root, Path: c.path, Now: now}
	switch {
	case c.spec.Type == typeInteger:
		return strconv.AppendInt(b, c.number(&s), 10)
	case c.spec.Type == typeBoolean:
		return strconv.AppendBool(b, s.Value().Bool())
	}
	text := c.text(&s)
	if text == "" {
		text = c.spec.Empty
	}
	return schema.AppendString(b, text)
}

func (c *column) number(s *cells.Source) int64 {
	if c.render.Number != nil {
		return c.render.Number(s)
	}
	return s.Value().Int()
}

func (c *column) text(s *cells.Source) string {
	switch {
	case c.render.Text != nil:
		return c.render.Text(s)
	case c.render.Number != nil:
		return strconv.FormatInt(c.render.Number(s), 10)
	}
	return cells.Text(s.Value())
}
