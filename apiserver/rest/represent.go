package rest

import (
	"net/http"
	"slices"
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/table"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
)

// representation is the form in which a response contains objects.
type representation struct {
	form negotiate.Form
	// partial is the kind PartialObjectMetadata in the requested version; nil for unconverted
	// objects.
	partial *schema.Kind
	// rows, if not nil, converts objects to rows of a Table.
	rows *table.Rows
}

// represent negotiates the representation of one object.
func (r *resource) represent(c *route.Call) (representation, error) {
	return r.choose(c, r.variants.objects)
}

// choose negotiates a representation among the variants offered.
func (r *resource) choose(c *route.Call, offered []negotiate.Variant) (representation, error) {
	form, target, err := c.Choose(offered)
	if err != nil || target == (negotiate.Target{}) {
		return representation{form: form}, err
	}
	return r.turned(c, form, target)
}

// turned returns the representation of objects that are converted to a target.
func (r *resource) turned(c *route.Call, form negotiate.Form, target negotiate.Target) (representation, error) {
	as := representation{form: form, partial: r.partials.ofVersion(target.Version)}
	if target.Kind != table.Kind {
		return as, nil
	}
	include, err := readInclude(c.Query())
	as.rows = &table.Rows{Table: r.table, Partial: as.partial, Include: include}
	return as, err
}

// readInclude reads how much of its object each row of a Table includes (B26, B27).
func readInclude(q route.Query) (table.Include, error) {
	asked, err := q.Choice("includeObject", "TableOptions")
	known := table.Names()
	return table.Include(max(slices.Index(known[:], asked), 0)), err
}

// whole reports whether objects are not converted.
func (as *representation) whole() bool { return as.partial == nil }

// appendTurned appends the converted form of a stored object.
func (r *resource) appendTurned(b []byte, as *representation, value []byte, now time.Time) ([]byte, error) {
	if as.rows == nil {
		return as.partial.AppendPartial(b, value, r.kind)
	}
	return as.rows.Append(as.rows.AppendHead(b, true), value, now)
}

// listOf begins a list of objects. prefix is the number of bytes to omit at the beginning of each
// item, including its brace.
func (r *resource) listOf(as *representation) (l negotiate.List, prefix int) {
	switch {
	case as.whole():
		l.Kind, l.APIVersion, l.Item, prefix = r.kind.ListKind, r.kind.APIVersion, r.kind, r.kind.ListPrefix()
	case as.rows == nil:
		l.Kind, l.APIVersion, l.Item, prefix = as.partial.ListKind, as.partial.APIVersion, as.partial, len("{")
	default:
		l.Kind, l.APIVersion, l.Columns, prefix = table.Kind, as.partial.APIVersion, r.table.Definitions(), len("{")
	}
	l.Form = as.form
	return l, prefix
}

// item returns the item of a list for a stored object: a subslice of value, or bytes written to
// room. grown is room, which may have been reallocated.
func (r *resource) item(as *representation, value, room []byte, now time.Time) (item, grown []byte, err error) {
	switch {
	case as.whole():
		prefix, rest, err := r.kind.Parts(value)
		if err != nil || prefix == "" {
			return rest, room, err
		}
		room = append(append(room[:0], prefix...), rest...)
	case as.rows == nil:
		room, err = as.partial.AppendPartial(room[:0], value, r.kind)
	default:
		room, err = as.rows.AppendRow(room[:0], value, now)
	}
	return room, room, err
}

// CreationCode returns the code of the response that creates an object of a kind: 200, as the
// specification says of its kinds (§4.2), and 201 for all others, as today's clients expect.
func CreationCode(k *schema.Kind) int {
	if k.Spec.Extra != "" {
		return http.StatusCreated
	}
	return http.StatusOK
}

// answer responds with one object, given in stored form or in the form of the kind.
func (r *resource) answer(c *route.Call, code int, as *representation, value []byte) error {
	if as.whole() {
		document, err := r.kind.Present(value)
		if err != nil {
			return err
		}
		return c.Object(code, r.kind, document, as.form)
	}
	document, err := r.appendTurned(nil, as, value, c.Now)
	if err != nil {
		return err
	}
	return c.Object(code, as.partial, document, as.form)
}
