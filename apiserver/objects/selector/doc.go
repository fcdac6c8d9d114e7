// Package selector holds label and field selectors in a compiled form that tests stored objects
// without decoding or allocating.
//
// Parsing is apimachinery's; a Selector never changes and is safe for concurrent use. No
// goroutines.
package selector
