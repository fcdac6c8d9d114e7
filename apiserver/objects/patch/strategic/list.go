package strategic

import (
	"quorate/apiserver/objects/patch/tree"
)

// item is an item of a list that is being merged.
type item struct {
	text string
	key  string // "" if the item has no key; only an error where a key is required
}

// list appends a patched list to out. live is the text of the list, or "" if the document does not
// have it. p is nil if the patch contains only directives for the list.
func (at place) list(out []byte, live string, p *tree.Node, lists *listDirectives) ([]byte, error) {
	var before, after []item
	if live != "" {
		before = at.items(live)
	}
	var err error
	switch {
	case p == nil:
		after = before
	case live == "" || !at.merge:
		after, err = at.addedItems(p.Items())
	case len(at.key) == 0:
		after, err = at.union(before, p.Items())
	default:
		after, err = at.mergeItems(before, p.Items())
	}
	if err == nil && lists != nil && lists.order != nil {
		after, err = at.ordered(after, before, p, lists.order)
	}
	if err == nil && lists != nil && lists.removal != nil {
		after, err = at.without(after, lists.removal)
	}
	if err != nil {
		return nil, err
	}
	out = append(out, '[')
	first := len(out)
	for i := range after {
		out = append(tree.Comma(out, first), after[i].text...)
	}
	return append(out, ']'), nil
}

// items returns the items of a live list.
func (at place) items(live string) []item {
	texts, _ := tree.Items(live, len(live))
	items := make([]item, len(texts))
	for i, text := range texts {
		items[i] = item{text: text, key: at.keyOf(text)}
	}
	return items
}

// addedItems returns the items of a list that is new or that replaces the live one. It drops items
// that are directives.
func (at place) addedItems(patch []tree.Node) ([]item, error) {
	items := make([]item, 0, len(patch))
	for i := range patch {
		if directive, err := at.item().itemDirective(&patch[i]); err != nil {
			return nil, err
		} else if directive != wholeMerge {
			continue
		}
		added, err := at.addedItem(&patch[i])
		if err != nil {
			return nil, err
		}
		items = append(items, added)
	}
	return items, nil
}

func (at place) addedItem(p *tree.Node) (item, error) {
	text := p.Text
	if form := p.Form(); form == tree.Object || form == tree.Array {
		out, _, err := at.item().added(nil, p, nil)
		if err != nil {
			return item{}, err
		}
		text = string(out)
	}
	return item{text: text, key: at.keyOf(text)}, nil
}

// itemDirective returns the directive of an item of the patch, or wholeMerge if it has none (F18,
// F19).
func (at place) itemDirective(p *tree.Node) (whole, error) {
	if !at.isObject() {
		return wholeMerge, nil
	}
	if value := p.Get(patchDirective); value != nil {
		return at.whole(value)
	}
	return wholeMerge, nil
}

// union appends to the live items those items of the patch that are not among them (F14).
func (at place) union(live []item, patch []tree.Node) ([]item, error) {
	seen := make(map[string]bool, len(live)+len(patch))
	out := make([]item, 0, len(live)+len(patch))
	var form tree.Form
	add := func(i item) error {
		if form == tree.None {
			form = tree.FormOf(i.text)
		}
		if i.key == "" || tree.FormOf(i.text) != form {
			return at.noKey()
		}
		if !seen[i.key] {
			seen[i.key] = true
			out = append(out, i)
		}
		return nil
	}
	for _, i := range live {
		if err := add(i); err != nil {
			return nil, err
		}
	}
	for i := range patch {
		if err := add(item{text: patch[i].Text, key: at.keyOf(patch[i].Text)}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mergeItems merges the items of a list by key (F14, F16). Merged items keep their positions; new
// items follow.
func (at place) mergeItems(live []item, patch []tree.Node) ([]item, error) {
	plain, deleted, replace, err := at.separate(patch)
	if err != nil {
		return nil, err
	}
	if replace { // an item `$patch: replace` removes the live items (F19)
		live = nil
	}
	out := make([]item, 0, len(live)+len(plain))
	places := make(map[string]int, len(live)+len(plain))
	for _, i := range live {
		if deleted[i.key] {
			continue
		}
		if _, taken := places[i.key]; !taken && i.key != "" {
			places[i.key] = len(out)
		}
		out = append(out, i)
	}
	for _, p := range plain {
		key := at.keyOf(p.Text)
		where, found := places[key]
		if found && !replace {
			if err := at.spend(len(out[where].text)); err != nil {
				return nil, err
			}
			text, _, err := at.item().object(nil, out[where].text, 0, p)
			if err != nil {
				return nil, err
			}
			out[where].text = string(text)
			continue
		}
		added, err := at.addedItem(p)
		if err != nil {
			return nil, err
		}
		places[key] = len(out)
		out = append(out, added)
	}
	return out, nil
}

// separate separates plain items from directives. It returns the plain items, the keys of the items
// with `$patch: delete`, and whether there is an item `$patch: replace`. Every item but the latter
// must have a key.
func (at place) separate(patch []tree.Node) (plain []*tree.Node, deleted map[string]bool, replace bool, err error) {
	deleted = map[string]bool{}
	for i := range patch {
		p := &patch[i]
		if p.Form() != tree.Object {
			return nil, nil, false, at.refuse("the list takes objects, not %s", p.Form())
		}
		directive, err := at.item().itemDirective(p)
		if err != nil {
			return nil, nil, false, err
		}
		if directive == wholeReplace {
			replace = true
			continue
		}
		key := at.keyOf(p.Text)
		if key == "" {
			return nil, nil, false, at.noKey()
		}
		if directive == wholeDelete {
			deleted[key] = true
			continue
		}
		plain = append(plain, p)
	}
	return plain, deleted, replace, nil
}

// without removes the values of a `$deleteFromPrimitiveList` from a list of primitives (F21).
func (at place) without(items []item, removal *tree.Node) ([]item, error) {
	gone := map[string]bool{}
	for _, p := range removal.Items() {
		key := at.keyOf(p.Text)
		if key == "" {
			return nil, at.noKey()
		}
		gone[key] = true
	}
	out := make([]item, 0, len(items))
	for _, i := range items {
		if !gone[i.key] {
			out = append(out, i)
		}
	}
	return out, nil
}
