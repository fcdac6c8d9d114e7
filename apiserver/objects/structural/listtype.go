package structural

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/schema"
)

// duplicatesOf reports the items of an object that occur twice in lists with x-kubernetes-list-type
// set, or whose keys do in those with map.
func duplicatesOf(v *value, n *node) field.ErrorList {
	var f findings
	duplicates(&f, v, n, nil)
	return f.list()
}

func duplicates(f *findings, v *value, n *node, path *field.Path) {
	if n == nil || !n.listTypes || f.more {
		return
	}
	switch v.kind {
	case object:
		for i := range v.kids {
			kid := &v.kids[i]
			switch p := n.property(kid.name); {
			case p == nil && n.values != nil && n.values.listTypes:
				duplicates(f, &kid.value, n.values, path.Key(kid.name))
			case p != nil && p.listTypes:
				duplicates(f, &kid.value, p, path.Child(kid.name))
			}
		}
	case array:
		switch n.listType {
		case setList:
			for _, i := range repeated(v.kids, func(item *value) string { return string(item.identity(nil)) }) {
				f.duplicate(path.Index(i), v.kids[i].plain())
			}
		case mapList:
			duplicateKeys(f, v, n, path)
		}
		for i := range v.kids {
			if n.items != nil && n.items.listTypes {
				duplicates(f, &v.kids[i].value, n.items, path.Index(i))
			}
		}
	}
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

func duplicateKeys(f *findings, v *value, n *node, path *field.Path) {
	for i := range v.kids {
		if k := v.kids[i].kind; k != object && k != null {
			f.invalid(path.Index(i), v.kids[i].plain(), "must be an object for an array of list-type map")
			return
		}
	}
	for _, i := range repeated(v.kids, func(item *value) string { return keysOf(item, n.mapKeys) }) {
		keys := map[string]any{}
		for _, name := range n.mapKeys {
			if m := v.kids[i].member(name); m != nil {
				keys[name] = m.plain()
			}
		}
		f.duplicate(path.Index(i), keys)
	}
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
