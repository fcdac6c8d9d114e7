// Package selector holds label and field selectors in a compiled form that tests stored objects
// without decoding or allocating.
//
// Parsing is apimachinery's; a Selector never changes and is safe for concurrent use. Its terms are
// sorted, bounded in number, and none occurs twice. A Table makes the watches with equal selectors
// share one. No goroutines.
package selector
