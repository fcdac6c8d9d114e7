package protofile

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"quorate/apiserver/objects/schema"
)

// metaPackage is the package of messages that do not belong to an API group.
const metaPackage = "platform.meta.v1"

// message is a message of the file.
type message struct {
	name    string
	pkg     string
	comment string
	fields  []field // sorted by number
}

// field is a field of the file, or a nested message.
type field struct {
	number  int
	label   string // "optional" or "repeated"; "" for maps
	typ     string // scalar type or message name
	mapped  bool   // map from strings to typ
	name    string
	comment string
	inside  []field // fields of a nested message
}

// collector collects messages by name. Names are unique across packages.
type collector struct {
	messages map[string]*message
}

// collect collects the messages of all kinds with a protobuf form.
func collect(c *schema.Catalog) (*collector, error) {
	out := &collector{messages: map[string]*message{}}
	for _, m := range wellKnown() {
		out.messages[m.name] = &m
	}
	for _, name := range []string{"Status", "WatchEvent", "DeleteOptions", "ListMeta"} {
		m := c.Message(name)
		if m == nil {
			return nil, fmt.Errorf("the catalog has no message %s", name)
		}
		if err := out.add(m, map[*schema.Message]bool{}); err != nil {
			return nil, err
		}
	}
	for _, k := range c.Kinds() {
		if !k.HasProtobuf() {
			continue
		}
		if err := out.add(k.Message, map[*schema.Message]bool{}); err != nil {
			return nil, fmt.Errorf("kind %s in %s: %w", k.Kind, k.APIVersion, err)
		}
		out.addKind(k)
	}
	return out, nil
}

// addKind adds the message of a kind's lists, and comments that name the kind.
func (c *collector) addKind(k *schema.Kind) {
	m := c.messages[k.Message.Name]
	list := c.messages[m.name+"List"]
	if list != nil { // another version of the kind
		m.comment += fmt.Sprintf(" In apiVersion %s: %s/%s.", k.APIVersion, k.Prefix, k.Plural)
		list.comment += fmt.Sprintf(" In apiVersion %s.", k.APIVersion)
		return
	}
	m.comment = fmt.Sprintf("%s in apiVersion %s: %s/%s.", k.Kind, k.APIVersion, k.Prefix, k.Plural)
	c.messages[m.name+"List"] = &message{
		name: m.name + "List", pkg: m.pkg,
		comment: fmt.Sprintf("%s in apiVersion %s.", k.ListKind, k.APIVersion),
		fields: []field{
			{number: 1, label: "optional", typ: "ListMeta", name: "metadata"},
			{number: 2, label: "repeated", typ: m.name, name: "items"},
		},
	}
}

// add adds a message and the messages below it. If the message exists, add adds the fields that it
// does not have yet.
func (c *collector) add(m *schema.Message, seen map[*schema.Message]bool) error {
	if seen[m] {
		return nil
	}
	seen[m] = true
	to := c.messages[m.Name]
	if to == nil {
		to = &message{name: m.Name, pkg: packageOf(m.Spec.Upstream)}
		c.messages[m.Name] = to
	}
	for _, f := range m.Fields() {
		if f.Spec.Proto == 0 {
			continue
		}
		if err := to.place(m, f); err != nil {
			return fmt.Errorf("message %s: field %s: %w", m.Name, f.Name, err)
		}
		if below := innermost(f.Type).InProtobuf().Message(); below != nil {
			if err := c.add(below, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// place adds a field to the message, or to the wrapper message that contains the field.
func (m *message) place(of *schema.Message, f *schema.Field) error {
	made, err := fieldOf(f)
	if err != nil {
		return err
	}
	if f.Spec.ProtoWrap == 0 {
		m.fields = insert(m.fields, made)
		return nil
	}
	at := slices.IndexFunc(m.fields, func(f field) bool { return f.name == of.Spec.ProtoWrapper })
	if at < 0 {
		m.fields = insert(m.fields, field{number: f.Spec.ProtoWrap, label: "optional", typ: upperFirst(of.Spec.ProtoWrapper), name: of.Spec.ProtoWrapper})
		at = slices.IndexFunc(m.fields, func(f field) bool { return f.name == of.Spec.ProtoWrapper })
	}
	m.fields[at].inside = insert(m.fields[at].inside, made)
	return nil
}

// insert inserts a field by its number unless a field with that number exists.
func insert(fields []field, f field) []field {
	at, there := slices.BinarySearchFunc(fields, f, func(a, b field) int { return cmp.Compare(a.number, b.number) })
	if there {
		return fields
	}
	return slices.Insert(fields, at, f)
}

func fieldOf(f *schema.Field) (field, error) {
	out := field{number: f.Spec.Proto, label: "optional", name: cmp.Or(f.Spec.ProtoName, f.Name)}
	if f.Spec.Proto >= schema.OwnNumbers {
		out.comment = "An extension: upstream has no such field."
	}
	t := f.Type
	switch {
	case f.Spec.ProtoListWrapper && t.Elem().Form == schema.FormString:
		out.typ = "StringList"
		return out, nil
	case f.Spec.ProtoListWrapper:
		return out, fmt.Errorf("only lists of strings can be wrapped")
	case t.Form == schema.FormList:
		out.label, t = "repeated", t.Elem()
	case t.Form == schema.FormMap:
		out.label, out.mapped, t = "", true, t.Elem()
	}
	out.typ = typeName(t)
	if out.typ == "" {
		return out, fmt.Errorf("protobuf has no type for %s", f.Spec.Type)
	}
	return out, nil
}

func typeName(t *schema.Type) string {
	switch t = t.InProtobuf(); t.Form {
	case schema.FormMessage:
		return t.Message().Name
	case schema.FormString:
		return "string"
	case schema.FormBool:
		return "bool"
	case schema.FormInt32:
		return "int32"
	case schema.FormInt64:
		return "int64"
	case schema.FormUint32:
		return "uint32"
	case schema.FormDouble:
		return "double"
	case schema.FormBytes:
		return "bytes"
	case schema.FormTime:
		return "Time"
	case schema.FormMicroTime:
		return "MicroTime"
	case schema.FormQuantity:
		return "Quantity"
	case schema.FormIntOrString:
		return "IntOrString"
	case schema.FormRaw:
		return "RawExtension"
	}
	return "" // lists of lists
}

func innermost(t *schema.Type) *schema.Type {
	for t.Elem() != nil {
		t = t.Elem()
	}
	return t
}

var groupVersion = regexp.MustCompile(`\.([a-z]+)\.(v[0-9][a-z0-9]*)\.[A-Za-z]+$`)

// packageOf returns the package of a message by its upstream name: "platform.core.v1" for
// "k8s.io.api.core.v1.Pod".
func packageOf(upstream string) string {
	if m := groupVersion.FindStringSubmatch(upstream); m != nil {
		return "platform." + m[1] + "." + m[2]
	}
	return metaPackage
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// wellKnown returns the messages that encode scalars, and the envelope.
func wellKnown() []message {
	one := func(n int, typ, name string) field { return field{number: n, label: "optional", typ: typ, name: name} }
	all := []message{
		{name: "Time", comment: "A time in UTC. An empty message is no time.", fields: []field{one(1, "int64", "seconds"), one(2, "int32", "nanos")}},
		{name: "MicroTime", comment: "A time in UTC, to the microsecond. An empty message is no time.", fields: []field{one(1, "int64", "seconds"), one(2, "int32", "nanos")}},
		{name: "Quantity", comment: "A quantity in its canonical text: 500m, 2Gi.", fields: []field{one(1, "string", "string")}},
		{name: "IntOrString", comment: "A number (type 0) or a text (type 1).", fields: []field{one(1, "int64", "type"), one(2, "int32", "intVal"), one(3, "string", "strVal")}},
		{name: "RawExtension", comment: "An embedded object: JSON, or in a WatchEvent an object in its envelope.", fields: []field{one(1, "bytes", "raw")}},
		{name: "StringList", comment: "A list that may be unset or empty.", fields: []field{{number: 1, label: "repeated", typ: "string", name: "items"}}},
		{name: "TypeMeta", comment: "What an object is.", fields: []field{one(1, "string", "apiVersion"), one(2, "string", "kind")}},
		{
			name: "Unknown", comment: "The envelope of an object, after the four bytes 6b 38 73 00. raw is the message of the object.",
			fields: []field{one(1, "TypeMeta", "typeMeta"), one(2, "bytes", "raw"), one(3, "string", "contentEncoding"), one(4, "string", "contentType")},
		},
	}
	for i := range all {
		all[i].pkg = metaPackage
	}
	return all
}
