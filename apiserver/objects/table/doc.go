// Package table shows objects as rows of a Table (semantics B24–B29): the columns of a kind come from its kind file, compiled
// once; a column's cell is what stands at a path of the object, or what a renderer makes of it. The renderers are one file a
// family; README.md of package kinds lists them.
//
// It is pure: no goroutines, no state. A row is made of stored bytes, which are read in borrowed memory, and of the time, because
// ages are among the cells.
package table
