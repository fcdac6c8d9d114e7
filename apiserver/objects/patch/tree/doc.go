// Package tree parses JSON text for package patch, and only as far as necessary. Values remain
// text, so that the parts of a document that a patch does not change are copied byte by byte,
// including the form of numbers and the order of members.
//
// There are two kinds of text. A patch comes from a client: Parse validates it and returns Nodes. A
// document was encoded by package schema and is assumed to be valid JSON: Skip and Members scan it.
// For invalid text they return wrong results but do not panic. All functions are pure.
package tree
