package table

import (
	"fmt"
	"slices"
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/table/cells"
)

// Table converts the objects of one kind to rows. It is immutable.
type Table struct {
	kind        *schema.Kind
	columns     []column
	custom      []*customColumn // of a custom kind, after the columns
	definitions []byte
	ages        bool // some cell depends on the time
}

// New compiles the columns of a kind. Columns that are not valid for the kind are errors.
func New(k *schema.Kind) (*Table, error) {
	if k.Custom() {
		return newCustom(k)
	}
	specs := k.Spec.Columns
	if len(specs) == 0 {
		specs = nameAndAge()
	}
	t := &Table{kind: k}
	known := cells.Renderers()
	for i := range specs {
		c, err := compile(&specs[i], k.Message.Type(), known)
		if err != nil {
			return nil, fmt.Errorf("kind %s in %s: column %s: %w", k.Kind, k.Prefix, specs[i].Name, err)
		}
		t.columns = append(t.columns, c)
		t.ages = t.ages || slices.Contains([]string{cells.Age, cells.JobDuration, cells.EventSeen}, c.spec.Render)
	}
	t.definitions = appendDefinitions(nil, specs)
	return t, nil
}

// nameAndAge returns the columns of a kind that declares none (M51).
func nameAndAge() []schema.ColumnSpec {
	return []schema.ColumnSpec{
		{Name: "Name", Type: typeString, Format: "name", Description: "What the object is called.", Value: ".metadata.name"},
		{
			Name: "Age", Type: typeString, Description: "How long ago the object was created.",
			Value: ".metadata.creationTimestamp", Render: cells.Age,
		},
	}
}

// Definitions returns the columnDefinitions of the table as JSON. The caller must not modify them.
func (t *Table) Definitions() []byte { return t.definitions }

func appendDefinitions(b []byte, specs []schema.ColumnSpec) []byte {
	b = append(b, '[')
	for i := range specs {
		if i > 0 {
			b = append(b, ',')
		}
		spec := &specs[i]
		b = schema.AppendString(append(b, `{"name":`...), spec.Name)
		b = schema.AppendString(append(b, `,"type":`...), spec.Type)
		b = schema.AppendString(append(b, `,"format":`...), spec.Format)
		b = schema.AppendString(append(b, `,"description":`...), spec.Description)
		b = fmt.Appendf(b, `,"priority":%d}`, spec.Priority)
	}
	return append(b, ']')
}

// Include determines how much of its object a row contains in addition to the cells (B26, B27).
type Include uint8

// The values of Include.
const (
	Metadata Include = iota
	None
	Object

	// Includes is the number of values.
	Includes = iota
)

// Names returns the values of the parameter includeObject, indexed by Include.
func Names() [Includes]string { return [Includes]string{"Metadata", "None", "Object"} }

// Rows converts objects to rows. Rows that are equal produce equal output.
type Rows struct {
	Table *Table
	// Partial is the kind PartialObjectMetadata, in the form of which rows include metadata. Its
	// apiVersion is that of the Table.
	Partial *schema.Kind
	Include Include
}

// Kind is the kind of a Table.
const Kind = "Table"

// AppendHead appends the beginning of a Table up to its metadata. columns is false if the client
// already has the column definitions (B29).
func (r Rows) AppendHead(b []byte, columns bool) []byte {
	b = append(b, `{"kind":"`+Kind+`","apiVersion":"`...)
	b = append(append(b, r.Partial.APIVersion...), `",`...)
	if columns {
		b = append(append(b, `"columnDefinitions":`...), r.Table.definitions...)
		b = append(b, ',')
	}
	return b
}

// Append appends the rest of a Table after its head, with the row of one object. value is a stored
// value of the kind (B28).
func (r Rows) Append(b, value []byte, now time.Time) ([]byte, error) {
	err := r.Table.kind.Borrow(value, func(root *schema.Value) (err error) {
		b = schema.AppendString(append(b, `"metadata":{"selfLink":`...), root.Lookup("metadata", "selfLink").Str())
		b = schema.AppendString(append(b, `,"resourceVersion":`...), root.Lookup("metadata", "resourceVersion").Str())
		b, err = r.appendRow(append(b, `},"rows":[`...), value, root, now)
		return err
	})
	return append(b, `]}`...), err
}

// MarkRow returns the member rows of the Table of a bookmark, with a leading comma, up to the value
// of resourceVersion in its only row. The cells are those of an object without fields. The row has
// an object even if the client wants none, because its metadata contains the bookmark's
// annotations, as upstream.
func (r Rows) MarkRow(now time.Time) (string, error) {
	k := r.Table.kind
	empty := []byte(`{"kind":"` + k.Kind + `","apiVersion":"` + k.APIVersion + `","metadata":{}}`)
	b := []byte(`,"rows":[`)
	err := k.Borrow(empty, func(root *schema.Value) (err error) {
		b, err = r.appendCells(b, empty, root, now)
		return err
	})
	of := r.Partial
	if r.Include == Object {
		of = k
	}
	return string(b) + `,"object":{"kind":"` + of.Kind + `","apiVersion":"` + of.APIVersion + `","metadata":{"resourceVersion":"`, err
}

// Ages reports whether the output of Append depends on the time.
func (r Rows) Ages() bool { return r.Table.ages }

// AppendRow appends the row of an object. value is a stored value of the kind.
func (r Rows) AppendRow(b, value []byte, now time.Time) ([]byte, error) {
	err := r.Table.kind.Borrow(value, func(root *schema.Value) (err error) {
		b, err = r.appendRow(b, value, root, now)
		return err
	})
	return b, err
}

func (r Rows) appendRow(b, value []byte, root *schema.Value, now time.Time) ([]byte, error) {
	b, err := r.appendCells(b, value, root, now)
	if err != nil {
		return b, err
	}
	switch r.Include {
	case Metadata:
		b, err = r.Partial.AppendPartial(append(b, `,"object":`...), value, r.Table.kind)
	case Object:
		b, err = r.appendObject(append(b, `,"object":`...), value)
	}
	return append(b, '}'), err
}

// appendCells appends the beginning of a row, with its cells.
func (r Rows) appendCells(b, value []byte, root *schema.Value, now time.Time) ([]byte, error) {
	b = append(b, `{"cells":[`...)
	for i := range r.Table.columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.Table.columns[i].appendCell(b, root, now)
	}
	b, err := r.Table.appendCustom(b, value, now)
	return append(b, ']'), err
}

func (r Rows) appendObject(b, value []byte) ([]byte, error) {
	prefix, rest, err := r.Table.kind.Parts(value)
	return append(append(b, prefix...), rest...), err
}
