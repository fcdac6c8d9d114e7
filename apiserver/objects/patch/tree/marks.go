package tree

// Marks are places of members that are dealt with. The nil value has none.
type Marks []uint64

// NewMarks returns marks for so many members.
func NewMarks(n int) Marks { return make(Marks, (n+63)/64) }

// Set marks a member.
func (m Marks) Set(i int) { m[i/64] |= 1 << (i % 64) }

// Has reports whether a member is marked.
func (m Marks) Has(i int) bool { return m != nil && m[i/64]&(1<<(i%64)) != 0 }

// Comma separates what comes next in out from what stands there since first, where an object's or
// array's content begins.
func Comma(out []byte, first int) []byte {
	if len(out) > first {
		return append(out, ',')
	}
	return out
}
