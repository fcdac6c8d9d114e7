package tree

import "strings"

// Hit is a member of a document that a patch names.
type Hit struct {
	Which int // index of the member in the patch; -1 for a duplicate name that a later one overrides
	Start int // position of its name
	Value int // position of its value
	End   int // position after its value
}

// Hits returns the members that the patch names, of the object whose opening brace is at position i
// of text, in the order of the text. end is the position after the object.
func (n *Node) Hits(text string, i int) (hits []Hit, end int) {
	latest := make([]int, len(n.Members)) // index into hits plus one, or 0
	m := OpenMembers(text, i)
	for m.Next() {
		end := Skip(text, m.Value)
		if which := n.Find(m.Name); which >= 0 {
			if earlier := latest[which]; earlier > 0 {
				hits[earlier-1].Which = -1
			}
			hits = append(hits, Hit{Which: which, Start: m.Start, Value: m.Value, End: end})
			latest[which] = len(hits)
		}
		m.Past(end)
	}
	return hits, m.End()
}

// AppendRun appends unchanged members: the text between two hits, or between a hit and a brace.
// first is the position in out at which the members of the object begin.
func AppendRun(out []byte, first int, text string) []byte {
	if text = strings.Trim(text, ", \n\t\r"); text == "" {
		return out
	}
	return append(Comma(out, first), text...)
}
