// Package tree reads JSON text for package patch without taking it apart further than needed: a
// value is its text, so what a patch does not touch is copied as it is written, numbers and the
// order of members with it.
//
// Two kinds of text: a patch comes from a client, is checked by Parse and becomes Nodes; a document
// is what the schema encoded, is trusted to be valid JSON, and is walked with Skip and Members.
// Text that is not valid gives a wrong result, never a panic. No goroutines, no state.
package tree
