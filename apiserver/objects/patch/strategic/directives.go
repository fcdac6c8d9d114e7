package strategic

import (
	"strings"

	"quorate/apiserver/objects/patch/tree"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

const (
	patchDirective  = "$patch"
	retainDirective = "$retainKeys"
	orderPrefix     = "$setElementOrder"
	removalPrefix   = "$deleteFromPrimitiveList"
)

// Texts of malformed directives (400).
const (
	badOrder   = "invalid patch format of setElementOrder list"
	badRetain  = "invalid patch format of retainKeys"
	badRemoval = "invalid patch format of primitive list"
)

// whole is the value of a `$patch` directive, which applies to a whole object.
type whole string

const (
	wholeMerge   whole = "merge" // the default without a directive (F20)
	wholeReplace whole = "replace"
	wholeDelete  whole = "delete"
)

// directives are the directives of an object of the patch.
type directives struct {
	whole  whole
	retain map[string]bool // nil: retain all members
	lists  map[string]*listDirectives
}

// listDirectives are the directives about one list.
type listDirectives struct {
	order   *tree.Node
	removal *tree.Node
}

func (d *directives) listsOf(name string) *listDirectives { return d.lists[name] }

// list returns the directives for the list name. It adds an empty entry if there is none.
func (d *directives) list(name string) *listDirectives {
	if d.lists == nil {
		d.lists = map[string]*listDirectives{}
	}
	if d.lists[name] == nil {
		d.lists[name] = &listDirectives{}
	}
	return d.lists[name]
}

// directives parses the directives among the members of p and marks these members in met.
func (at place) directives(p *tree.Node, met tree.Marks) (directives, error) {
	d := directives{whole: wholeMerge}
	for i := range p.Members {
		name, value := p.Members[i].Name, &p.Members[i].Value
		known, err := true, error(nil)
		switch {
		case !strings.HasPrefix(name, "$"):
			continue
		case name == patchDirective:
			d.whole, err = at.whole(value)
		case name == retainDirective:
			d.retain, err = retained(value)
		case strings.HasPrefix(name, orderPrefix):
			known, err = at.orderDirective(&d, name, value)
		case strings.HasPrefix(name, removalPrefix):
			known, err = at.removalDirective(&d, name, value)
		default:
			continue
		}
		if err != nil {
			return d, err
		}
		if known {
			met.Set(i)
		}
	}
	return d, at.checkRetained(p, &d, met)
}

// whole parses the value of `$patch`.
func (at place) whole(value *tree.Node) (whole, error) {
	if value.Form() == tree.String {
		switch w := whole(value.Unquote()); w {
		case wholeMerge, wholeReplace, wholeDelete:
			return w, nil
		}
	}
	return "", at.refuse("unknown $patch: %.100s", value.Text) // 422 (F24)
}

// retained parses the value of `$retainKeys`, a list of the member names to keep. It returns a 400
// error if the value is not a list of strings (F23).
func retained(value *tree.Node) (map[string]bool, error) {
	if value.Form() != tree.Array {
		return nil, status.NewBadRequest(badRetain)
	}
	keys := map[string]bool{}
	for _, key := range value.Items() {
		if key.Form() != tree.String {
			return nil, status.NewBadRequest(badRetain)
		}
		keys[key.Unquote()] = true
	}
	return keys, nil
}

// checkRetained returns an error if the patch sets a member that its `$retainKeys` does not list
// (F23).
func (at place) checkRetained(p *tree.Node, d *directives, met tree.Marks) error {
	if d.retain == nil || d.whole != wholeMerge {
		return nil
	}
	for i := range p.Members {
		m := &p.Members[i]
		if !met.Has(i) && m.Value.Form() != tree.Null && !d.retain[m.Name] {
			return at.refuse("%s sets %.100s, which is not among the retained keys", retainDirective, m.Name)
		}
	}
	return nil
}

// orderDirective parses `$setElementOrder/x`. known is false if the schema has no field x; the
// directive is then treated as an unknown field.
func (at place) orderDirective(d *directives, name string, value *tree.Node) (known bool, err error) {
	prefix, list, found := strings.Cut(name, "/")
	if !found || prefix != orderPrefix || value.Form() != tree.Array {
		return false, status.NewBadRequest(badOrder)
	}
	field := at.below(list)
	if field.typ == nil {
		return false, nil
	}
	if !field.merge {
		return false, status.NewBadRequest(badOrder)
	}
	d.list(list).order = value
	return true, nil
}

// removalDirective parses `$deleteFromPrimitiveList/x`, which lists the values to remove from x
// (F21). known is as for orderDirective.
func (at place) removalDirective(d *directives, name string, value *tree.Node) (known bool, err error) {
	prefix, list, found := strings.Cut(name, "/")
	if !found || prefix != removalPrefix || value.Form() != tree.Array {
		return false, status.NewBadRequest(badRemoval)
	}
	field := at.below(list)
	if field.typ == nil {
		return false, nil
	}
	if !field.isList() || field.typ.Elem().Form == schema.FormMessage {
		return false, status.NewBadRequest(badRemoval)
	}
	d.list(list).removal = value
	return true, nil
}

// checkLists returns an error if the patch orders a member that is not a list or is not one after
// the patch.
func (at place) checkLists(lists *listDirectives, live, patched tree.Form) error {
	if lists == nil || lists.order == nil {
		return nil
	}
	if patched != tree.Array && patched != live || live == tree.Object {
		return at.refuse("the patch orders a list and makes it %s", patched)
	}
	return nil
}
