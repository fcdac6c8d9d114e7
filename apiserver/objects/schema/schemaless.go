package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	openMessage = "AnyObject" // the message of objects of schemaless kinds
	maxName     = 253
)

// Definition describes a namespaced kind without a schema, as a ThirdPartyResource defines it
// (semantics K1–K10).
type Definition struct {
	Kind     string // "CronTab"
	Group    string // "stable.example.com"
	Plural   string // "crontabs"
	Singular string // "crontab"
	Versions []string
	// Resource is the first part of the keys that the kind's objects are stored under.
	Resource string
}

// Schemaless compiles one kind for each version of a definition. All versions share their objects,
// which are stored in the form of the first one (K10). Use With to add the kinds to a catalog.
func (c *Catalog) Schemaless(d Definition) ([]*Kind, error) {
	kinds := make([]*Kind, len(d.Versions))
	for i, version := range d.Versions {
		k, err := c.openKind(d.spec(version), d.Resource)
		if err != nil {
			return nil, err
		}
		kinds[i] = k
		k.storage = kinds[0]
		kinds[0].versions = kinds[:i+1]
	}
	return kinds, nil
}

// openKind compiles a kind without a file, whose objects may have any members. The caller sets the
// kind in whose form objects are stored.
func (c *Catalog) openKind(spec *KindSpec, resource string) (*Kind, error) {
	m := c.messages[openMessage]
	if m == nil || m.open == nil {
		return nil, fmt.Errorf("the catalog has no open message %s", openMessage)
	}
	k := &Kind{Spec: spec, Message: m, prefix: kindPrefix(spec), name: c.names, open: true, renames: true}
	err := k.identify(spec)
	if err != nil {
		return nil, fmt.Errorf("kind %s in group %s: %w", spec.Kind, spec.Group, err)
	}
	k.Resource = resource
	if k.slots, err = findSlots(m); err != nil {
		return nil, err
	}
	k.strategy(spec)
	if k.Operations, err = offered(spec, true); err != nil {
		return nil, err
	}
	k.selectors, err = compileSelectors(k, spec.FieldSelectors)
	return k, err
}

// spec returns what a kind file for the definition would contain.
func (d *Definition) spec(version string) *KindSpec {
	apiVersion := d.Group + "/" + version
	return &KindSpec{
		Kind: d.Kind, Group: d.Group, Version: version, APIVersion: apiVersion, Prefix: "/apis/" + apiVersion,
		Plural: d.Plural, Singular: d.Singular, Scope: scopeNamespaced, Message: openMessage,
		Operations:     OperationsSpec{Chunking: true},
		FieldSelectors: FieldSelectorsSpec{Supported: []string{"metadata.name", "metadata.namespace"}},
	}
}

// With returns a catalog that also contains kinds, which must include all versions of each
// definition. A version that is not served is not in the catalog, except as the form in which
// objects are stored. With returns an error if two kinds have the same route or resource. The
// receiver does not change.
func (c *Catalog) With(kinds []*Kind) (*Catalog, error) {
	served := slices.DeleteFunc(slices.Clone(kinds), func(k *Kind) bool { return k.unserved })
	out := &Catalog{
		kinds: slices.Concat(c.kinds, served), byRoute: maps.Clone(c.byRoute), stored: maps.Clone(c.stored),
		unstored: c.unstored, messages: c.messages, formats: c.formats, names: c.names,
	}
	for _, k := range kinds {
		if k.unserved {
			if k.storage == k {
				out.stored[k.Resource] = k
			}
			continue
		}
		route := k.Prefix + "/" + k.Plural
		if out.byRoute[route] != nil {
			return nil, fmt.Errorf("two kinds have the route %s", route)
		}
		out.byRoute[route] = k
		if k.storage != k {
			continue
		}
		if out.stored[k.Resource] != nil {
			return nil, fmt.Errorf("two kinds are stored as %s", k.Resource)
		}
		out.stored[k.Resource] = k
	}
	return out, nil
}

// Schemaless reports whether the kind has no file with a message of its own: it was defined at run
// time. Such kinds have no protobuf form and no strategic merge patch (B21, F25).
func (k *Kind) Schemaless() bool { return k.open }

// Open reports whether the message keeps members other than its declared fields.
func (m *Message) Open() bool { return m.open != nil }

// kindPrefix returns the bytes with which the JSON of each object of a kind begins.
func kindPrefix(spec *KindSpec) string {
	return `{"kind":"` + spec.Kind + `","apiVersion":"` + spec.APIVersion + `",`
}

// requireIdentity rejects an object of a schemaless kind without kind or apiVersion (K8). Without
// them, any JSON object would be accepted.
func (o *Object) requireIdentity() error {
	if !o.Kind.Schemaless() {
		return nil
	}
	for _, m := range [...]struct{ slot, name string }{{"kind", "Kind"}, {"apiVersion", "apiVersion"}} {
		if o.Field(m.slot).IsEmpty() {
			return &DecodeError{Message: "Object '" + m.name + "' is missing in the data", Path: m.slot, Offset: -1}
		}
	}
	return nil
}

// readOpen reads a member of an open message that is not a declared field. keepOpen adds it to the
// message.
func (d *decoder) readOpen(m *Message, name string, depth int) error {
	text, err := d.appendSorted(nil, depth+1)
	if err != nil {
		return err
	}
	v := d.value(m.open)
	v.str = string(text)
	d.names, d.items = append(d.names, name), append(d.items, v)
	return nil
}

// keepOpen moves the open members to message v, sorted by name: the items beyond base and the names
// beyond named.
func (d *decoder) keepOpen(v *Value, base, named int) {
	open := box{kids: d.takeItems(base), keys: d.takeNames(named)}
	d.sortMap(&open)
	v.box.kids, v.box.keys = append(v.box.kids, open.kids...), open.keys
}

// openMembers writes the open members of a message.
func (w *writer) openMembers(v *Value) {
	if v.typ.message.open == nil {
		return
	}
	open := v.box.kids[len(v.typ.message.fields):]
	for i, name := range v.box.keys {
		w.out = append(AppendString(w.out, name), ':')
		w.out = append(append(w.out, open[i].str...), ',')
	}
}

// member is the position of an object's member in the output.
type member struct {
	name     string
	from, to int
}

// appendSorted reads any JSON value and appends it in a canonical form: without white space, with
// the members of objects sorted by name, and with numbers as they were written. Values that differ
// only in white space, escapes and the order of members thus have the same bytes.
func (d *decoder) appendSorted(out []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, d.tooDeep()
	}
	switch d.space() {
	case '{':
		return d.appendObject(out, depth)
	case '[':
		return d.appendArray(out, depth)
	case '"':
		s, err := d.str()
		return AppendString(out, s), err
	}
	start := d.pos
	err := d.skip(depth)
	return append(out, d.s[start:d.pos]...), err
}

func (d *decoder) appendArray(out []byte, depth int) ([]byte, error) {
	out = append(out, '[')
	for more, err := d.open(']'); more || err != nil; more, err = d.next(']', "after array element") {
		if err != nil {
			return nil, err
		}
		if out, err = d.appendSorted(out, depth+1); err != nil {
			return nil, err
		}
		out = append(out, ',')
	}
	return closed(out, ']'), nil
}

func (d *decoder) appendObject(out []byte, depth int) ([]byte, error) {
	base := len(out) + 1
	out = append(out, '{')
	var members []member
	for more, err := d.open('}'); more || err != nil; more, err = d.next('}', "after object key:value pair") {
		if err != nil {
			return nil, err
		}
		name, err := d.key()
		if err != nil {
			return nil, err
		}
		from := len(out)
		out = append(AppendString(out, name), ':')
		d.path = append(d.path, decodeStep{name: name, index: -1})
		if out, err = d.appendSorted(out, depth+1); err != nil {
			return nil, err
		}
		d.path = d.path[:len(d.path)-1]
		out = append(out, ',')
		members = append(members, member{name, from - base, len(out) - base})
	}
	return closed(d.sortMembers(out, base, members), '}'), nil
}

// sortMembers sorts the members written from base on by name. Of members with equal names it keeps
// the last.
func (d *decoder) sortMembers(out []byte, base int, members []member) []byte {
	byName := func(a, b member) int { return strings.Compare(a.name, b.name) }
	strictly := true
	for i := 1; i < len(members) && strictly; i++ {
		strictly = members[i-1].name < members[i].name
	}
	if strictly {
		return out
	}
	text := slices.Clone(out[base:])
	out = out[:base]
	slices.SortStableFunc(members, byName)
	for i, m := range members {
		if i+1 < len(members) && members[i+1].name == m.name {
			d.path = append(d.path, decodeStep{name: m.name, index: -1})
			d.problems.add("duplicate field", d.at())
			d.path = d.path[:len(d.path)-1]
			continue
		}
		out = append(out, text[m.from:m.to]...)
	}
	return out
}

// closed ends an object or array: the bracket replaces the comma after the last member.
func closed(out []byte, bracket byte) []byte {
	if last := len(out) - 1; out[last] == ',' {
		out[last] = bracket
		return out
	}
	return append(out, bracket)
}
