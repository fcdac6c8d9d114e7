package openapi

import (
	"fmt"
	"maps"
	"slices"

	"quorate/apiserver/objects/schema"
)

// object is a JSON object. Its members are written in sorted order.
type object = map[string]any

// The components that are not messages of kinds.
const (
	metaPackage = "io.k8s.apimachinery.pkg.apis.meta.v1"
	patchName   = metaPackage + ".Patch"

	quantityName    = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	intOrStringName = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
)

const groupVersionKinds = "x-kubernetes-group-version-kind"

// schemas collects the component schemas of one document, one for each message that its kinds use.
type schemas struct {
	dialect  dialect
	formats  formats
	all      object
	messages map[string]*schema.Message // by name in all
	names    map[*schema.Message]string
	variants map[string][]string // names in all of the messages with one name
	contexts []string            // contexts of the current kind
	err      error               // first error
}

// formats are the named string formats.
type formats map[string]schema.FormatSpec

func newSchemas(d dialect, f formats) *schemas {
	return &schemas{
		dialect: d, formats: f, all: object{}, messages: map[string]*schema.Message{}, names: map[*schema.Message]string{},
		variants: map[string][]string{},
	}
}

// claim returns a name for a message. there reports that the component with that name already
// exists and has the same fields.
func (s *schemas) claim(pkg, name string, m *schema.Message) (claimed string, there bool) {
	plain := pkg + "." + name
	for _, variant := range s.variants[plain] {
		if alike(s.messages[variant], m, map[[2]*schema.Message]bool{}) {
			return variant, true
		}
	}
	claimed = s.free(pkg, name)
	s.messages[claimed], s.all[claimed] = m, object{}
	s.variants[plain] = append(s.variants[plain], claimed)
	return claimed, false
}

// free returns a name that no component has.
func (s *schemas) free(pkg, name string) string {
	for n := 0; ; n++ {
		if free := candidate(pkg, s.contexts, name, n); s.all[free] == nil {
			return free
		}
	}
}

// kind adds the component of a kind's objects under the kind's name, and returns the name.
func (s *schemas) kind(k *schema.Kind) string {
	s.contexts = k.Spec.Contexts
	if len(s.contexts) == 0 {
		s.contexts = []string{k.Version}
	}
	name, there := s.claim(kindPackage(k), k.Kind, k.Message)
	switch {
	case k.Custom():
		s.defineCustom(name, k)
	case !there:
		s.define(name, k.Message)
	}
	if component, ok := s.all[name].(object); ok {
		served, _ := component[groupVersionKinds].([]object)
		own := groupVersionKind(k)
		if !slices.ContainsFunc(served, func(other object) bool { return maps.Equal(other, own) }) { // several kinds share the kind Scale
			component[groupVersionKinds] = append(served, own)
		}
	}
	return name
}

// list adds the component of a kind's lists with items of the given component, and returns its
// name.
func (s *schemas) list(k *schema.Kind, items string, meta *schema.Message) string {
	name := s.free(kindPackage(k), k.ListKind)
	s.all[name] = object{
		"type":        "object",
		"description": "A list of objects of the kind " + k.Kind + ".",
		"properties": object{
			"apiVersion": object{"type": "string", "description": "Group and version of the list."},
			"kind":       object{"type": "string", "description": "Kind of the list."},
			"metadata": s.dialect.beside(s.reference(meta), object{
				"description": "State that the list shows, and how to go on with it.",
			}),
			"items": object{"type": "array", "description": "The objects.", "items": s.dialect.reference(items)},
		},
		"required":        []string{"items"},
		groupVersionKinds: []object{{"group": k.Group, "version": k.Version, "kind": k.ListKind}},
	}
	return name
}

// reference returns a reference to a message's component, and adds the component if it is new.
// Messages may contain themselves.
func (s *schemas) reference(m *schema.Message) object {
	name, known := s.names[m]
	if !known {
		var there bool
		name, there = s.claim(packageOf(m.Spec.Upstream), m.Name, m)
		s.names[m] = name
		if !there {
			s.define(name, m)
		}
	}
	return s.dialect.reference(name)
}

// define adds the component of a message.
func (s *schemas) define(name string, m *schema.Message) {
	component := object{"type": "object"}
	s.all[name] = component
	if m.Spec.Description != "" {
		component["description"] = m.Spec.Description
	}
	if m.Open() {
		component["x-kubernetes-preserve-unknown-fields"] = true
	}
	if m.Spec.Atomic {
		component["x-kubernetes-map-type"] = "atomic"
	}
	properties := object{}
	var required []string
	for _, f := range m.Fields() {
		property, err := s.property(f)
		if err != nil && s.err == nil {
			s.err = fmt.Errorf("field %s of %s: %w", f.Name, m.Name, err)
		}
		properties[f.Name] = property
		if f.Spec.Required || f.Spec.SchemaRequired {
			required = append(required, f.Name)
		}
	}
	if len(properties) > 0 {
		component["properties"] = properties
	}
	if len(required) > 0 {
		slices.Sort(required)
		component["required"] = required
	}
}

// typed returns the schema of a type, without the constraints of a field.
func (s *schemas) typed(t *schema.Type) object {
	switch t.Form {
	case schema.FormMessage:
		return s.reference(t.Message())
	case schema.FormList:
		return object{"type": "array", "items": s.typed(t.Elem())}
	case schema.FormMap:
		return object{"type": "object", "additionalProperties": s.typed(t.Elem())}
	case schema.FormBool:
		return object{"type": "boolean"}
	case schema.FormInt32:
		return object{"type": "integer", "format": "int32"}
	case schema.FormUint32: // OpenAPI has no format for unsigned 32-bit integers
		return object{"type": "integer", "format": "int64", "minimum": 0}
	case schema.FormInt64:
		return object{"type": "integer", "format": "int64"}
	case schema.FormDouble:
		return object{"type": "number", "format": "double"}
	case schema.FormBytes:
		return object{"type": "string", "format": "byte"}
	case schema.FormTime, schema.FormMicroTime:
		return object{"type": "string", "format": "date-time"}
	case schema.FormQuantity:
		return s.scalar(quantityName, s.dialect.quantity())
	case schema.FormIntOrString:
		return s.scalar(intOrStringName, s.dialect.intOrString())
	case schema.FormRaw:
		return object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	}
	return object{"type": "string"}
}

// scalar adds a component that many fields share, and returns a reference to it.
func (s *schemas) scalar(name string, component object) object {
	s.all[name] = component
	return s.dialect.reference(name)
}

func groupVersionKind(k *schema.Kind) object {
	return object{"group": k.Group, "version": k.Version, "kind": k.Kind}
}
