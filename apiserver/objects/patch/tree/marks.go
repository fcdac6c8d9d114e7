package tree

// Marks is a set of member indexes. A nil Marks is empty.
type Marks []uint64

// NewMarks returns an empty set for the indexes below n.
func NewMarks(n int) Marks { return make(Marks, (n+63)/64) }

// Set adds an index.
func (m Marks) Set(i int) { m[i/64] |= 1 << (i % 64) }

// Has reports whether the set contains an index.
func (m Marks) Has(i int) bool { return m != nil && m[i/64]&(1<<(i%64)) != 0 }

// Comma appends a comma unless out is empty from position first, at which the content of an object
// or array begins.
func Comma(out []byte, first int) []byte {
	if len(out) > first {
		return append(out, ',')
	}
	return out
}
