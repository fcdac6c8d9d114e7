package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFields limits the fields of one message, because the decoder records them in a fixed bit set.
const maxFields = 256

// compiler compiles specs to types. It compiles each message once for each setting. Messages may
// refer to each other in cycles.
type compiler struct {
	src     *sources
	formats map[string]format
	hooks   Hooks
	lenient bool // ignore all hooks, for tests that do without them
	types   map[typeKey]*Type
}

// setting is what types are compiled for.
type setting struct {
	contexts string   // sorted, such as "newer template"
	groups   renaming // for kinds that serve stored objects in another API group
}

// typeKey identifies a compiled type.
type typeKey struct {
	text string // "list<X>", or the name of a message
	setting
}

func newCompiler(src *sources, formats map[string]format, hooks *Hooks) *compiler {
	c := &compiler{src: src, formats: formats, types: map[typeKey]*Type{}, lenient: hooks == nil}
	if hooks != nil {
		c.hooks = *hooks
	}
	return c
}

// message compiles a message for a setting.
func (c *compiler) message(name string, of setting) (*Type, error) {
	of = c.src.relevant(name, of)
	key := typeKey{name, of}
	if t := c.types[key]; t != nil {
		return t, nil
	}
	src, ok := c.src.messages[name]
	if !ok {
		return nil, fmt.Errorf("there is no message %q", name)
	}
	m := &Message{Name: name, Spec: src.spec, byName: map[string]*Field{}}
	t := &Type{Form: FormMessage, message: m}
	m.typ = t
	if src.spec.Open {
		m.open = &Type{Form: FormRaw}
	}
	c.types[key] = t
	if err := c.fillMessage(m, of); err != nil {
		delete(c.types, key)
		return nil, fmt.Errorf("%s: message %s: %w", src.file, name, err)
	}
	return t, nil
}

func (c *compiler) fillMessage(m *Message, of setting) (err error) {
	if m.validators, err = resolve(c, c.hooks.Validators, "validate", m.Spec.Validate...); err != nil {
		return err
	}
	if m.defaulter, err = resolveOne(c, c.hooks.Defaulters, "defaulter", m.Spec.Defaulter); err != nil {
		return err
	}
	for _, named := range inEncodingOrder(m.Spec.Fields) {
		if !selected(named.spec.Contexts, of.contexts) {
			continue
		}
		f := &Field{Name: named.name, Spec: of.groups.field(named.spec.in(of.contexts)), index: len(m.fields), keyJSON: `"` + named.name + `":`}
		if err := c.fillField(f, of); err != nil {
			return fmt.Errorf("field %s: %w", named.name, err)
		}
		m.fields = append(m.fields, f)
		m.byName[f.Name] = f
	}
	if len(m.fields) > maxFields {
		return fmt.Errorf("more than %d fields", maxFields)
	}
	if err := m.checkUnion(); err != nil {
		return err
	}
	return m.compileWire()
}

// inEncodingOrder returns the fields in the order in which they are encoded: kind before apiVersion
// if these are the first two fields and identify the object. In an owner reference, where
// apiVersion has an upstream protobuf number, they are ordinary fields and keep their order.
func inEncodingOrder(fields fieldSpecs) fieldSpecs {
	v := slices.IndexFunc(fields, func(f namedField) bool { return f.name == "apiVersion" })
	k := slices.IndexFunc(fields, func(f namedField) bool { return f.name == "kind" })
	if v != 0 || k != 1 || fields[v].spec.Proto != 0 && fields[v].spec.Proto < OwnNumbers {
		return fields
	}
	out := slices.Clone(fields)
	out[0], out[1] = out[1], out[0]
	return out
}

// selected reports whether a field with these contexts exists in the context set.
func selected(fieldContexts []string, contexts string) bool {
	if len(fieldContexts) == 0 {
		return true
	}
	for have := range strings.SplitSeq(contexts, " ") {
		if slices.Contains(fieldContexts, have) {
			return true
		}
	}
	return false
}

func (c *compiler) fillField(f *Field, of setting) (err error) {
	s := f.Spec
	if f.Type, err = c.fieldType(s.Type, of); err != nil {
		return err
	}
	if s.ProtoMessage != "" {
		if f.Type, err = c.textOfMessage(f.Type, s, of); err != nil {
			return err
		}
	}
	f.below = f.Type.innermost().message
	if s.Emit != "" && s.Emit != "always" {
		return fmt.Errorf("emit: %q is not always", s.Emit)
	}
	f.pointer, f.always, f.required, f.immutable = s.Pointer, s.Emit == "always", s.Required, s.Immutable
	if f.requiredIf, err = resolveOne(c, c.hooks.Conditions, "requiredIf", s.RequiredIf); err != nil {
		return err
	}
	if f.defaultIf, err = resolveOne(c, c.hooks.Conditions, "defaultIf", s.DefaultIf); err != nil {
		return err
	}
	if f.defaulter, err = resolveOne(c, c.hooks.Defaulters, "defaulter", s.Defaulter); err != nil {
		return err
	}
	if f.compare, err = resolveOne(c, c.hooks.Comparisons, "immutableCheck", s.ImmutableCheck); err != nil {
		return err
	}
	if f.check, err = c.checks(f); err != nil {
		return err
	}
	return nil
}

// fieldType compiles the type that a file writes as "string", "list<X>", "map<string,X>" or the
// name of a message.
func (c *compiler) fieldType(text string, of setting) (*Type, error) {
	of = c.src.relevant(text, of)
	if item, ok := strings.CutPrefix(text, "list<"); ok {
		elem, err := c.fieldType(strings.TrimSuffix(item, ">"), of)
		return c.shared(text, of, Type{Form: FormList, elem: elem}), err
	}
	if item, ok := strings.CutPrefix(text, "map<string,"); ok {
		value := strings.TrimSuffix(item, ">")
		if value == "quantity" {
			return c.shared(text, of, Type{Form: FormMap, elem: c.shared("rounded quantity", setting{}, Type{Form: FormQuantity, roundUp: true})}), nil
		}
		elem, err := c.fieldType(value, of)
		return c.shared(text, of, Type{Form: FormMap, elem: elem}), err
	}
	if text != "" && text[0] >= 'A' && text[0] <= 'Z' {
		return c.message(text, of)
	}
	form, ok := scalarForm(text)
	if _, declared := c.src.scalars[text]; !ok || !declared {
		return nil, fmt.Errorf("there is no type %q", text)
	}
	return c.shared(text, setting{}, Type{Form: form}), nil
}

// shared returns the type for a type text and setting, of which the compiler keeps one.
func (c *compiler) shared(text string, of setting, t Type) *Type {
	key := typeKey{text, of}
	if c.types[key] == nil {
		c.types[key] = &t
	}
	return c.types[key]
}

func scalarForm(name string) (Form, bool) {
	switch name {
	case "string":
		return FormString, true
	case "bool":
		return FormBool, true
	case "int32":
		return FormInt32, true
	case "int64":
		return FormInt64, true
	case "uint32":
		return FormUint32, true
	case "double":
		return FormDouble, true
	case "bytes":
		return FormBytes, true
	case "time":
		return FormTime, true
	case "microTime":
		return FormMicroTime, true
	case "quantity":
		return FormQuantity, true
	case "intOrString":
		return FormIntOrString, true
	case "rawExtension":
		return FormRaw, true
	}
	return 0, false
}

// finish computes the properties that depend on all messages: default values, encodings of unset
// messages, and which subtrees defaulting and validation can skip.
func (c *compiler) finish() error {
	for key, t := range c.types {
		if t.message == nil {
			continue
		}
		for _, f := range t.message.fields {
			if err := compileDefault(f); err != nil {
				return fmt.Errorf("message %s: field %s: default: %w", key.text, f.Name, err)
			}
		}
	}
	for changed := true; changed; { // until nothing changes: messages may contain themselves through lists
		changed = false
		for _, t := range c.types {
			if t.message != nil && t.message.markWork() {
				changed = true
			}
		}
	}
	for _, t := range c.types {
		if t.message == nil {
			continue
		}
		if err := t.message.compileZero(nil); err != nil {
			return err
		}
		if err := t.message.compileWireZero(nil); err != nil {
			return err
		}
	}
	return nil
}

func compileDefault(f *Field) error {
	if f.Spec.Default.IsZero() || f.def != nil {
		return nil
	}
	text, err := yamlNodeToJSON(&f.Spec.Default)
	if err != nil {
		return err
	}
	d := newDecoder(string(text))
	if f.def, err = d.document(f.Type); err != nil {
		return err
	}
	if len(d.problems.list) > 0 {
		return fmt.Errorf("%s", d.problems.list[0])
	}
	return nil
}

func yamlNodeToJSON(node *yaml.Node) ([]byte, error) {
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// markWork records whether the message or one below it has defaults, checks or immutable fields. It
// reports whether it changed one of these marks.
func (m *Message) markWork() bool {
	before := [3]bool{m.defaults, m.checks, m.immutables}
	m.defaults = m.defaults || m.defaulter != nil
	m.checks = m.checks || len(m.validators) > 0
	for _, f := range m.fields {
		m.defaults = m.defaults || f.def != nil || f.defaulter != nil
		m.checks = m.checks || f.check != nil || f.required || f.requiredIf != nil
		m.immutables = m.immutables || f.immutable || f.compare != nil
		if f.Type.message != nil {
			m.immutables = m.immutables || f.Type.message.immutables
		}
		if f.below != nil {
			m.defaults = m.defaults || f.below.defaults
			m.checks = m.checks || f.below.checks
		}
	}
	return before != [3]bool{m.defaults, m.checks, m.immutables}
}

// compileZero computes the JSON of the message with no field set. above are the messages that
// contain it.
func (m *Message) compileZero(above []*Message) error {
	if m.zero != nil {
		return nil
	}
	if slices.Contains(above, m) {
		return fmt.Errorf("message %s always contains itself", m.Name)
	}
	for _, f := range m.fields {
		if f.always && !f.pointer && f.Type.message != nil {
			if err := f.Type.message.compileZero(append(above, m)); err != nil {
				return err
			}
		}
	}
	m.zero = appendMessage(nil, m.typ.New())
	return nil
}
