package cells

import (
	"fmt"
	"strings"

	"quorate/apiserver/objects/schema"
)

// Path is a JSONPath of names, each optionally followed by [*] for all items of a list. It thus
// refers to one value or to several.
type Path []step

type step struct {
	name string // of a field, or a key of a map
	all  bool   // continue with each item of the list
}

// everyItem is the suffix of the name of a list.
const everyItem = "[*]"

// CompilePath compiles a path such as ".spec.containers[*].name" for objects of type t. It returns
// the type of the values at the path.
func CompilePath(text string, t *schema.Type) (Path, *schema.Type, error) {
	names, ok := strings.CutPrefix(text, ".")
	if !ok {
		return nil, nil, fmt.Errorf("%q does not begin with a dot", text)
	}
	var p Path
	for name := range strings.SplitSeq(names, ".") {
		var s step
		s.name, s.all = strings.CutSuffix(name, everyItem)
		switch {
		case t.Message() != nil && t.Message().Field(s.name) != nil:
			t = t.Message().Field(s.name).Type
		case t.Form == schema.FormMap && s.name != "":
			t = t.Elem()
		default:
			return nil, nil, fmt.Errorf("%q: there is no %q", text, s.name)
		}
		if s.all && t.Form != schema.FormList {
			return nil, nil, fmt.Errorf("%q: %q is not a list", text, s.name)
		}
		if s.all {
			t = t.Elem()
		}
		p = append(p, s)
	}
	return p, t, nil
}

// Many reports whether the path may refer to several values.
func (p Path) Many() bool {
	for _, s := range p {
		if s.all {
			return true
		}
	}
	return false
}

// one returns the value at a path that refers to one value, or nil if it is unset.
func (p Path) one(v *schema.Value) *schema.Value {
	for _, s := range p {
		v = s.from(v)
	}
	return v
}

// each calls fn with each value at the path.
func (p Path) each(v *schema.Value, fn func(v *schema.Value)) {
	for i, s := range p {
		v = s.from(v)
		if s.all {
			for _, item := range v.Items() {
				p[i+1:].each(item, fn)
			}
			return
		}
	}
	if v.IsSet() {
		fn(v)
	}
}

func (s *step) from(v *schema.Value) *schema.Value {
	if t := v.Type(); t != nil && t.Form == schema.FormMap {
		return v.Get(s.name)
	}
	return v.Field(s.name)
}
