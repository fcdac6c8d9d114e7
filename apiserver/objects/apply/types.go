package apply

import (
	"fmt"
	"slices"
	"sync"

	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"quorate/apiserver/objects/schema"
)

// The names of the types that the types of all kinds share. A value of one of them is a whole: who
// owns it owns everything in it.
const (
	atomicType  = "__untyped_atomic_"
	deducedType = "__untyped_deduced_"
)

// types holds the types of the versions of a kind by apiVersion. They are derived when they are
// first needed, because most kinds are never applied.
type types map[string]func() (versionTypes, error)

// versionTypes are the types of the objects of one version.
type versionTypes struct {
	// exact allows what the version has, as configurations must.
	exact *typed.ParseableType
	// lenient has the same fields, and allows others as well. Objects that come from another version
	// of a custom kind have that version's fields, too. All values that are merged or compared are of
	// this type, which the library requires to be the same.
	lenient *typed.ParseableType
}

func newTypes(k *schema.Kind) types {
	t := types{}
	for _, version := range k.Versions() {
		t[version.APIVersion] = sync.OnceValues(func() (versionTypes, error) { return deriveBoth(version) })
	}
	return t
}

// parse returns the content of an object of a kind as a typed value.
func (t types) parse(k *schema.Kind, content map[string]any, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	of, err := t[k.APIVersion]()
	if err != nil {
		return nil, err
	}
	return of.lenient.FromUnstructured(content, options...)
}

// parseExact does the same for a configuration, and returns an error if it has fields that the kind
// does not have.
func (t types) parseExact(k *schema.Kind, content map[string]any) (*typed.TypedValue, error) {
	of, err := t[k.APIVersion]()
	if err != nil {
		return nil, err
	}
	value, err := of.exact.FromUnstructured(content)
	if err != nil || of.exact == of.lenient {
		return value, err
	}
	return of.lenient.FromUnstructured(content)
}

func deriveBoth(k *schema.Kind) (versionTypes, error) {
	exact, err := derive(k)
	if err != nil || !k.Custom() {
		return versionTypes{exact, exact}, err
	}
	return versionTypes{exact, lenient(exact)}, nil
}

// derive returns the type of the objects of a kind. For a kind without a schema, it deduces the
// type from the values: objects have fields, and lists are wholes.
func derive(k *schema.Kind) (*typed.ParseableType, error) {
	if k.Schemaless() && !k.Custom() {
		return &typed.DeducedParseableType, nil
	}
	t := typesOf{names: map[*schema.Message]string{}, taken: map[string]bool{}}
	name := t.message(k.Message)
	if k.Custom() {
		if err := t.addCustom(name, k); err != nil {
			return nil, fmt.Errorf("derive the types of %s in %s: %w", k.Kind, k.APIVersion, err)
		}
	}
	parser := typed.Parser{Schema: smd.Schema{Types: append(t.defs, untyped()...)}}
	root := parser.Type(name)
	return &root, nil
}

// typesOf collects the definitions of the messages of a kind.
type typesOf struct {
	defs  []smd.TypeDef
	names map[*schema.Message]string
	taken map[string]bool
}

// message defines the type of a message, unless it is defined, and returns its name. The same
// message can be there twice, compiled for different contexts.
func (t *typesOf) message(m *schema.Message) string {
	if name, ok := t.names[m]; ok {
		return name
	}
	name := m.Name
	for t.taken[name] {
		name += "'"
	}
	t.names[m], t.taken[name] = name, true
	shape := &smd.Map{}
	if m.Spec.Atomic {
		shape.ElementRelationship = smd.Atomic
	}
	if m.Open() {
		shape.ElementType = named(deducedType)
	}
	for _, f := range m.Fields() {
		shape.Fields = append(shape.Fields, smd.StructField{Name: f.Name, Type: t.field(f)})
	}
	t.defs = append(t.defs, smd.TypeDef{Name: name, Atom: smd.Atom{Map: shape}})
	return name
}

// field returns the type of a field. The items of a list with a merge key have an identity, as do
// those of a list that merges without one. Any other list is a whole.
func (t *typesOf) field(f *schema.Field) smd.TypeRef {
	ref := t.ref(f.Type)
	switch {
	case f.Type.Form == schema.FormMap && f.Spec.Atomic:
		ref.Inlined.Map.ElementRelationship = smd.Atomic
	case f.Type.Form == schema.FormList:
		ref.Inlined.List.ElementRelationship = smd.Atomic
		if keys := f.Spec.Keys(); f.Spec.Merges() && identifies(f.Type.Elem().Message(), keys) {
			ref.Inlined.List.ElementRelationship = smd.Associative
			ref.Inlined.List.Keys = keys
			t.addDefaults(f.Type.Elem().Message(), keys)
		}
	}
	return ref
}

// identifies reports whether the items of a list have its merge keys as fields. The signatures of
// an image have theirs in their metadata, so that the list is a whole.
func identifies(item *schema.Message, keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return item == nil || item.Field(key) == nil })
}

// addDefaults sets the defaults of the keys of a list's items: an item without a key is the one
// whose key has the default, or else the zero value.
func (t *typesOf) addDefaults(m *schema.Message, keys []string) {
	if m == nil || len(keys) == 0 {
		return
	}
	i := slices.IndexFunc(t.defs, func(d smd.TypeDef) bool { return d.Name == t.names[m] })
	for j := range t.defs[i].Map.Fields {
		f := &t.defs[i].Map.Fields[j]
		if slices.Contains(keys, f.Name) {
			f.Default = m.Field(f.Name).KeyDefault()
		}
	}
}

func (t *typesOf) ref(of *schema.Type) smd.TypeRef {
	switch of.Form {
	case schema.FormMessage:
		return named(t.message(of.Message()))
	case schema.FormList:
		return smd.TypeRef{Inlined: smd.Atom{List: &smd.List{ElementType: t.ref(of.Elem()), ElementRelationship: smd.Atomic}}}
	case schema.FormMap:
		return smd.TypeRef{Inlined: smd.Atom{Map: &smd.Map{ElementType: t.ref(of.Elem())}}}
	case schema.FormRaw:
		return named(atomicType)
	case schema.FormBool:
		return scalar(smd.Boolean)
	case schema.FormInt32, schema.FormInt64, schema.FormUint32, schema.FormDouble:
		return scalar(smd.Numeric)
	case schema.FormQuantity, schema.FormIntOrString, schema.FormTime, schema.FormMicroTime:
		return scalar(smd.Untyped) // a number or a text
	}
	return scalar(smd.String)
}

func named(name string) smd.TypeRef { return smd.TypeRef{NamedType: &name} }

func scalar(s smd.Scalar) smd.TypeRef { return smd.TypeRef{Inlined: smd.Atom{Scalar: &s}} }

// untyped defines the types of values of any form: one whose maps have fields, and one whose maps
// are wholes. Lists are wholes in both.
func untyped() []smd.TypeDef {
	deduced := whole()
	deduced.Map = &smd.Map{ElementType: named(deducedType), ElementRelationship: smd.Separable}
	return []smd.TypeDef{{Name: atomicType, Atom: whole()}, {Name: deducedType, Atom: deduced}}
}

// whole returns the type of values of any form whose maps and lists are wholes.
func whole() smd.Atom {
	scalar := smd.Untyped
	return smd.Atom{
		Scalar: &scalar,
		List:   &smd.List{ElementType: named(atomicType), ElementRelationship: smd.Atomic},
		Map:    &smd.Map{ElementType: named(atomicType), ElementRelationship: smd.Atomic},
	}
}
