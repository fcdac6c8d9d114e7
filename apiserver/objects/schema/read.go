package schema

import (
	"fmt"
	"io/fs"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readSpec parses a YAML file into out. Unknown keys are errors.
func readSpec(files fs.FS, name string, out any) error {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return fmt.Errorf("read schema file: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(doc.Content) != 1 {
		return fmt.Errorf("%s: not one document", name)
	}
	if err := decodeStrict(doc.Content[0], out); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// decodeStrict decodes node into the struct that out points to and rejects unknown keys. The
// library's own check does not apply below types that implement UnmarshalYAML.
func decodeStrict(node *yaml.Node, out any) error {
	if err := checkKeys(node, reflect.TypeOf(out).Elem()); err != nil {
		return err
	}
	return node.Decode(out)
}

func checkKeys(node *yaml.Node, t reflect.Type) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[yaml.Node](), t == reflect.TypeFor[messageSpecs](), t == reflect.TypeFor[fieldSpecs]():
		return nil
	case t.Kind() == reflect.Slice && node.Kind == yaml.SequenceNode:
		for _, item := range node.Content {
			if err := checkKeys(item, t.Elem()); err != nil {
				return err
			}
		}
	case t.Kind() == reflect.Map && node.Kind == yaml.MappingNode:
		for i := 1; i < len(node.Content); i += 2 {
			if err := checkKeys(node.Content[i], t.Elem()); err != nil {
				return err
			}
		}
	case t.Kind() == reflect.Struct && node.Kind == yaml.MappingNode:
		return checkStructKeys(node, t)
	}
	return nil
}

// specKeys maps each struct that files are decoded into to its keys and their types.
var specKeys = func() map[reflect.Type]map[string]reflect.Type {
	out := map[reflect.Type]map[string]reflect.Type{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[KindSpec](), reflect.TypeFor[NameRuleSpec](), reflect.TypeFor[OperationsSpec](),
		reflect.TypeFor[SubresourcesSpec](), reflect.TypeFor[ScaleSpec](), reflect.TypeFor[FieldSelectorsSpec](), reflect.TypeFor[StrategySpec](),
		reflect.TypeFor[GraceSpec](), reflect.TypeFor[KindHooksSpec](), reflect.TypeFor[ColumnSpec](),
		reflect.TypeFor[MessageSpec](), reflect.TypeFor[FieldSpec](), reflect.TypeFor[TodaySpec](), reflect.TypeFor[FormatSpec](),
		reflect.TypeFor[ScalarSpec](), reflect.TypeFor[typesSpec](),
	} {
		out[t] = map[string]reflect.Type{}
		for i := range t.NumField() {
			out[t][t.Field(i).Tag.Get("yaml")] = t.Field(i).Type
		}
	}
	return out
}()

func checkStructKeys(node *yaml.Node, t reflect.Type) error {
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		ft, ok := specKeys[t][key.Value]
		if !ok {
			return fmt.Errorf("line %d: unknown key %q", key.Line, key.Value)
		}
		if err := checkKeys(node.Content[i+1], ft); err != nil {
			return fmt.Errorf("%s: %w", key.Value, err)
		}
	}
	return nil
}

// UnmarshalYAML decodes the messages in the order of the file.
func (m *messageSpecs) UnmarshalYAML(node *yaml.Node) error {
	return eachEntry(node, func(name string, value *yaml.Node) error {
		spec := &MessageSpec{}
		if err := decodeStrict(value, spec); err != nil {
			return err
		}
		*m = append(*m, namedMessage{name, spec})
		return nil
	})
}

// UnmarshalYAML decodes the fields in the order of the file.
func (f *fieldSpecs) UnmarshalYAML(node *yaml.Node) error {
	return eachEntry(node, func(name string, value *yaml.Node) error {
		spec := &FieldSpec{}
		if err := decodeStrict(value, spec); err != nil {
			return err
		}
		if spec.Type == "" {
			return fmt.Errorf("line %d: no type", value.Line)
		}
		*f = append(*f, namedField{name, spec})
		return nil
	})
}

func eachEntry(node *yaml.Node, fn func(name string, value *yaml.Node) error) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: not a mapping", node.Line)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name := node.Content[i].Value
		if seen[name] {
			return fmt.Errorf("line %d: %s is defined twice", node.Content[i].Line, name)
		}
		seen[name] = true
		if err := fn(name, node.Content[i+1]); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(name), err)
		}
	}
	return nil
}
