package structural

import "quorate/apiserver/objects/schema"

// member returns the counterpart of an object's member.
func (c counterpart) member(name string) counterpart {
	// kind and apiVersion of the object itself say what the object was converted to, so they have
	// no old value.
	if c.node == nil || c.root && (name == "kind" || name == "apiVersion") {
		return counterpart{}
	}
	schema, old := c.node.member(name), c.old.member(name)
	if schema == nil || old == nil {
		return counterpart{}
	}
	return counterpart{node: schema, old: old}
}

// list returns the items of the old list, if they can be found by key.
func (c counterpart) list() *keyed {
	if c.node == nil || c.old == nil || c.old.kind != array {
		return nil
	}
	return newKeyed(c.node, c.old)
}

// item returns the counterpart of a list's item. old is what list returned.
func (c counterpart) item(old *keyed, item *value) counterpart {
	have := old.find(item)
	if have == nil || c.node.items == nil {
		return counterpart{}
	}
	return counterpart{node: c.node.items, old: have}
}

// keyed finds the items of a list with x-kubernetes-list-type map. A nil keyed has no items.
type keyed struct {
	keys  []string
	items map[string]*value
}

// newKeyed returns nil for lists of other types, and for empty ones.
func newKeyed(n *node, list *value) *keyed {
	if n.kind != array || n.listType != mapList || len(n.mapKeys) == 0 || len(list.kids) == 0 {
		return nil
	}
	k := &keyed{n.mapKeys, make(map[string]*value, len(list.kids))}
	for i := range list.kids {
		item := &list.kids[i].value
		if key, ok := k.key(item); ok && k.items[key] == nil {
			k.items[key] = item
		}
	}
	return k
}

// find returns the first item with the keys of v, or nil.
func (k *keyed) find(v *value) *value {
	if k == nil {
		return nil
	}
	key, ok := k.key(v)
	if !ok {
		return nil
	}
	return k.items[key]
}

// key returns a text that identifies an item. ok is false if a key is missing or no scalar.
func (k *keyed) key(v *value) (key string, ok bool) {
	var out []byte
	for _, name := range k.keys {
		m := v.member(name)
		if m == nil || m.kind == null || m.kind >= array {
			return "", false
		}
		out = append(schema.AppendString(out, m.key()), ',')
	}
	return string(out), true
}

// unchanged reports whether a value is the old one. As in Kubernetes, items with keys may have
// moved, and an object with a member that has no schema counts as changed.
func unchanged(n *node, v, old *value) bool {
	if v.kind != old.kind {
		return false
	}
	switch v.kind {
	case array:
		return unchangedList(n, v, old)
	case object:
		if len(v.kids) != len(old.kids) {
			return false
		}
		for i := range v.kids {
			kid := &v.kids[i]
			schema, before := n.member(kid.name), old.member(kid.name)
			if schema == nil || before == nil || !unchanged(schema, &kid.value, before) {
				return false
			}
		}
		return true
	}
	return equal(v, old)
}

func unchangedList(n *node, v, old *value) bool {
	if len(v.kids) != len(old.kids) {
		return false
	}
	items := newKeyed(n, old)
	if items == nil {
		return equal(v, old)
	}
	for i := range v.kids {
		before := items.find(&v.kids[i].value)
		if before == nil || n.items == nil || !unchanged(n.items, &v.kids[i].value, before) {
			return false
		}
	}
	return true
}
