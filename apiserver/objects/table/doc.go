// Package table converts objects to rows of a Table (semantics B24–B29). The columns of a kind are
// declared in its kind file, or in its CustomResourceDefinition, and compiled once. A cell is the
// value at a path of the object, or the result of a renderer of package cells; README.md of package
// kinds lists the renderers.
//
// All functions are pure. A row depends on the stored bytes and, because ages are among the cells,
// on the time.
package table
