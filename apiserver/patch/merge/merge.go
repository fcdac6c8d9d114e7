// Package merge applies merge patches (RFC 7386, F12). It is one pass over the text of the document: what the patch does not
// name is copied, so the cost is that of a copy and a search for names. No goroutines, no state.
package merge

import "quorate/apiserver/patch/tree"

// Append appends the document, patched, to out. The document keeps the order of its members; new ones follow in that of the patch.
func Append(out []byte, document string, p *tree.Node) []byte {
	at := tree.Space(document, 0)
	if p.Form() != tree.Object || tree.FormOf(document[at:]) != tree.Object {
		return AppendNew(out, p)
	}
	out, _ = object(out, document, at, p)
	return out
}

// object patches the object of the document whose brace is at i, and returns where it ends.
func object(out []byte, document string, i int, p *tree.Node) ([]byte, int) {
	out = append(out, '{')
	first := len(out)
	met := tree.NewMarks(len(p.Members))
	members := tree.OpenMembers(document, i)
	for members.Next() {
		which := p.Find(members.Name)
		if which < 0 {
			end := tree.Skip(document, members.Value)
			out = append(tree.Comma(out, first), document[members.Start:end]...)
			members.Past(end)
			continue
		}
		met.Set(which)
		value := &p.Members[which].Value
		switch value.Form() {
		case tree.Null:
			members.Past(tree.Skip(document, members.Value))
		case tree.Object:
			out = append(tree.Comma(out, first), document[members.Start:members.Value]...)
			end := 0
			if document[members.Value] == '{' {
				out, end = object(out, document, members.Value, value)
			} else {
				out, end = AppendNew(out, value), tree.Skip(document, members.Value)
			}
			members.Past(end)
		default:
			out = append(append(tree.Comma(out, first), document[members.Start:members.Value]...), value.Text...)
			members.Past(tree.Skip(document, members.Value))
		}
	}
	return append(rest(out, first, p, met), '}'), members.End()
}

// AppendNew appends a value of a patch where the document has none, or none that merges: without its nulls.
func AppendNew(out []byte, p *tree.Node) []byte {
	if p.Form() != tree.Object {
		return append(out, p.Text...)
	}
	out = append(out, '{')
	return append(rest(out, len(out), p, nil), '}')
}

// rest appends the members that the document does not have.
func rest(out []byte, first int, p *tree.Node, met tree.Marks) []byte {
	for i := range p.Members {
		m := &p.Members[i]
		if met.Has(i) || m.Value.Form() == tree.Null {
			continue
		}
		out = append(append(tree.Comma(out, first), m.Key...), ':')
		out = AppendNew(out, &m.Value)
	}
	return out
}
