// Package table shows objects as rows of a Table (semantics B24–B29). The columns of a kind are
// declared in its kind file and compiled once; a column's cell is the value at a path of the
// object, or what a renderer computes from it. The renderers are in cells.go and, one family of
// kinds a file, in cells_*.go; README.md of package kinds lists them.
//
// It is pure: no goroutines, no state. A row depends on the stored bytes, which are read in
// borrowed memory, and on the time, because ages are among the cells.
package table
