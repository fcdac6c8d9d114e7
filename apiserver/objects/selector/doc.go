// Package selector contains label and field selectors in a compiled form that tests stored objects
// without decoding or allocating.
//
// The parser is apimachinery's. A Selector never changes and is safe for concurrent use. Its terms
// are sorted, unique and bounded in number. Watches with equal selectors share one value through an
// Interner. The package starts no goroutines.
package selector
