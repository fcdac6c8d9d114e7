package structural

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/schema"
)

// duplicates reports the items that occur twice in lists with x-kubernetes-list-type set, or whose
// keys do in those with map.
func duplicates(v *value, n *node, path *field.Path) field.ErrorList {
	if n == nil || !n.listTypes {
		return nil
	}
	var errs field.ErrorList
	switch v.kind {
	case object:
		for i := range v.kids {
			kid := &v.kids[i]
			switch p := n.property(kid.name); {
			case p == nil && n.values != nil && n.values.listTypes:
				errs = append(errs, duplicates(&kid.value, n.values, path.Key(kid.name))...)
			case p != nil && p.listTypes:
				errs = append(errs, duplicates(&kid.value, p, path.Child(kid.name))...)
			}
		}
	case array:
		switch n.listType {
		case setList:
			for _, i := range repeated(v.kids, func(item *value) string { return string(item.identity(nil)) }) {
				errs = append(errs, field.Duplicate(path.Index(i), v.kids[i].plain()))
			}
		case mapList:
			errs = append(errs, duplicateKeys(v, n, path)...)
		}
		for i := range v.kids {
			if n.items != nil && n.items.listTypes {
				errs = append(errs, duplicates(&v.kids[i].value, n.items, path.Index(i))...)
			}
		}
	}
	return errs
}

// repeated returns the index of the second of several items that are the same.
func repeated(items []member, identity func(*value) string) []int {
	if len(items) < 2 {
		return nil
	}
	var out []int
	times := make(map[string]int, len(items))
	for i := range items {
		id := identity(&items[i].value)
		if times[id]++; times[id] == 2 {
			out = append(out, i)
		}
	}
	return out
}

// identity appends a text that is the same for equal values only.
func (v *value) identity(out []byte) []byte {
	switch v.kind {
	case array, object:
		out = append(out, '0'+byte(v.kind))
		out = append(strconv.AppendInt(out, int64(len(v.kids)), 10), ':')
		for i := range v.kids {
			if v.kind == object {
				out = schema.AppendString(out, v.kids[i].name)
			}
			out = v.kids[i].identity(out)
		}
		return out
	default:
		return schema.AppendString(out, v.key())
	}
}

func duplicateKeys(v *value, n *node, path *field.Path) field.ErrorList {
	for i := range v.kids {
		if k := v.kids[i].kind; k != object && k != null {
			return field.ErrorList{field.Invalid(path.Index(i), v.kids[i].plain(), "must be an object for an array of list-type map")}
		}
	}
	var errs field.ErrorList
	for _, i := range repeated(v.kids, func(item *value) string { return keysOf(item, n.mapKeys) }) {
		keys := map[string]any{}
		for _, name := range n.mapKeys {
			if m := v.kids[i].member(name); m != nil {
				keys[name] = m.plain()
			}
		}
		errs = append(errs, field.Duplicate(path.Index(i), keys))
	}
	return errs
}

// keysOf returns a text that is the same for items with the same keys only. Missing keys are equal.
func keysOf(item *value, keys []string) string {
	var out []byte
	for _, name := range keys {
		if m := item.member(name); m != nil {
			out = m.identity(append(out, '='))
		}
		out = append(out, ',')
	}
	return string(out)
}
