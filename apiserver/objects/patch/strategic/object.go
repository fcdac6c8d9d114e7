package strategic

import (
	"quorate/apiserver/objects/patch/merge"
	"quorate/apiserver/objects/patch/tree"
	"quorate/apiserver/objects/schema"
)

// Append applies the patch p to document, an object of message m, and appends the result to out.
func Append(out []byte, document string, p *tree.Node, m *schema.Message) ([]byte, error) {
	i := tree.Space(document, 0)
	if tree.FormOf(document[i:]) != tree.Object {
		document, i = "{}", 0
	}
	out, _, err := place{typ: m.Type(), work: new(int)}.object(out, document, i, p)
	return out, err
}

// object patches the object whose opening brace is at position i of the document. It returns the
// position after the object. The place must have a message or a map type.
func (at place) object(out []byte, document string, i int, p *tree.Node) ([]byte, int, error) {
	met := tree.NewMarks(len(p.Members))
	d, err := at.directives(p, met)
	if err != nil {
		return nil, 0, err
	}
	switch d.whole {
	case wholeDelete: // `$patch: delete` removes the map (F18)
		return append(out, '{', '}'), tree.Skip(document, i), nil
	case wholeReplace: // `$patch: replace` replaces it with the patch's other members (F17)
		out, _, err = at.members(out, "{}", 0, p, d, met)
		return out, tree.Skip(document, i), err
	}
	return at.members(out, document, i, p, d, met)
}

// members patches each member of an object.
func (at place) members(out []byte, document string, i int, p *tree.Node, d directives, met tree.Marks) ([]byte, int, error) {
	out = append(out, '{')
	first := len(out)
	members := tree.OpenMembers(document, i)
	for members.Next() {
		which, lists := p.Find(members.Name), d.listsOf(members.Name)
		var value *tree.Node
		if which >= 0 {
			value = &p.Members[which].Value
		}
		dropped := d.retain != nil && !d.retain[members.Name]
		switch again := which >= 0 && met.Has(which); { // again is false for documents that the schema encoded
		case dropped, again:
			members.Past(tree.Skip(document, members.Value))
			continue
		case which < 0 && lists == nil:
			end := tree.Skip(document, members.Value)
			out = append(tree.Comma(out, first), document[members.Start:end]...)
			members.Past(end)
			continue
		case which >= 0:
			met.Set(which)
		}
		before := len(out)
		out = append(tree.Comma(out, first), document[members.Start:members.Value]...)
		result, end, keep, err := at.below(members.Name).value(out, document, members.Value, value, lists)
		if err != nil {
			return nil, 0, err
		}
		if out = result; !keep {
			out = out[:before]
		}
		members.Past(end)
	}
	out, err := at.rest(out, first, p, d, met)
	return append(out, '}'), members.End(), err
}

// rest appends the members of the patch that the document does not have.
func (at place) rest(out []byte, first int, p *tree.Node, d directives, met tree.Marks) ([]byte, error) {
	for i := range p.Members {
		m := &p.Members[i]
		if met.Has(i) || m.Value.Form() == tree.Null {
			continue
		}
		before := len(out)
		out = append(append(tree.Comma(out, first), m.Key...), ':')
		result, keep, err := at.below(m.Name).added(out, &m.Value, d.listsOf(m.Name))
		if err != nil {
			return nil, err
		}
		if out = result; !keep {
			out = out[:before]
		}
	}
	return out, nil
}

// value appends the patched form of the value at position i of the document. It returns the
// position after the value in the document. keep is false if the member is to be deleted. p is nil
// if the patch has only directives for the value, such as `$setElementOrder`.
func (at place) value(out []byte, document string, i int, p *tree.Node, lists *listDirectives) (_ []byte, end int, keep bool, err error) {
	live := tree.FormOf(document[i:])
	form := live
	if p != nil {
		form = p.Form()
	}
	if err := at.checkLists(lists, live, form); err != nil {
		return nil, 0, false, err
	}
	switch {
	case form == tree.Null:
		return out, tree.Skip(document, i), false, nil
	case p == nil && live != tree.Array:
		end = tree.Skip(document, i)
		return append(out, document[i:end]...), end, true, nil
	case live == tree.Array && form == tree.Array && at.isList():
		end = tree.Skip(document, i)
		out, err = at.list(out, document[i:end], p, lists)
		return out, end, true, err
	case live == tree.Object && form == tree.Object && at.isObject() && !at.replace:
		out, end, err = at.object(out, document, i, p)
		return out, end, true, err
	case at.isRaw() && !at.replace:
		end = tree.Skip(document, i)
		return merge.Append(out, document[i:end], p), end, true, nil
	}
	out, keep, err = at.added(out, p, lists)
	return out, tree.Skip(document, i), keep, err
}

// added appends a value of the patch where the document has no value or one of another form. keep
// is false if the patch deletes the value.
func (at place) added(out []byte, p *tree.Node, lists *listDirectives) (_ []byte, keep bool, err error) {
	switch form := p.Form(); {
	case form == tree.Object && at.isObject():
		if directive := p.Get(patchDirective); directive != nil && directive.Unquote() == string(wholeDelete) {
			return out, false, nil
		}
		out, _, err = at.object(out, "{}", 0, p)
		return out, true, err
	case form == tree.Array && at.isList():
		if err := at.checkLists(lists, tree.None, form); err != nil {
			return nil, false, err
		}
		out, err = at.list(out, "", p, lists)
		return out, true, err
	case lists != nil && lists.order != nil:
		return nil, false, at.refuse("the order of %s, which is no list", form)
	}
	return merge.AppendNew(out, p), true, nil
}
