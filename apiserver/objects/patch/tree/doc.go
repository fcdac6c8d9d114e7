// Package tree parses JSON text for package patch only as far as necessary. A value stays text, so
// what a patch doesn't touch is copied unchanged, including numbers and the order of members.
//
// There are two kinds of text. A patch comes from a client; Parse validates it and returns Nodes. A
// document was encoded by the schema and is trusted to be valid JSON; Skip and Members walk through
// it. Invalid text gives a wrong result, never a panic. No goroutines, no state.
package tree
