// Package merge applies merge patches (RFC 7386, F12) to the text of a document. It copies the
// members that the patch does not name as text, so that a patch costs a copy of the document and a
// lookup of member names at each level that the patch contains. All functions are pure.
package merge

import "quorate/apiserver/objects/patch/tree"

// Append appends the patched document to out. Members of the document keep their order; new members
// follow in the order of the patch.
func Append(out []byte, document string, p *tree.Node) []byte {
	at := tree.Space(document, 0)
	if p.Form() != tree.Object || tree.FormOf(document[at:]) != tree.Object {
		return AppendNew(out, p)
	}
	return object(out, document, at, p)
}

// object patches the object whose opening brace is at position i of the document.
func object(out []byte, document string, i int, p *tree.Node) []byte {
	out = append(out, '{')
	first := len(out)
	met := tree.NewMarks(len(p.Members))
	hits, end := p.Hits(document, i)
	from := i + 1
	for _, hit := range hits {
		out = tree.AppendRun(out, first, document[from:hit.Start])
		if from = hit.End; hit.Which < 0 {
			continue
		}
		met.Set(hit.Which)
		value := &p.Members[hit.Which].Value
		if value.Form() == tree.Null {
			continue
		}
		out = append(tree.Comma(out, first), document[hit.Start:hit.Value]...)
		if value.Form() == tree.Object && document[hit.Value] == '{' {
			out = object(out, document, hit.Value, value)
		} else {
			out = AppendNew(out, value)
		}
	}
	out = tree.AppendRun(out, first, document[from:max(from, end-1)])
	return append(rest(out, first, p, met), '}')
}

// AppendNew appends a value of the patch, without its nulls. It is used where the document has no
// value, or none that can be merged.
func AppendNew(out []byte, p *tree.Node) []byte {
	if p.Form() != tree.Object {
		return append(out, p.Text...)
	}
	out = append(out, '{')
	return append(rest(out, len(out), p, nil), '}')
}

// rest appends the members of the patch that the document does not have. met marks those that it
// has.
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
