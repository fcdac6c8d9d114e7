package tree

import "strings"

// Hit is a member of a document that a patch names.
type Hit struct {
	Which int // the member of the patch; -1 for one whose name comes again later: the last one counts
	Start int // where its name begins
	Value int // where its value begins
	End   int // where its value ends
}

// Hits returns those members of the object whose brace is at i that the patch names, in their
// order, and where the object ends.
func (n *Node) Hits(text string, i int) (hits []Hit, end int) {
	latest := make([]int, len(n.Members)) // index among the hits, and one
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

// AppendRun appends members that stay as they are: text between hits, or between one and a brace.
func AppendRun(out []byte, first int, text string) []byte {
	if text = strings.Trim(text, ", \n\t\r"); text == "" {
		return out
	}
	return append(Comma(out, first), text...)
}
