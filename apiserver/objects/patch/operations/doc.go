// Package operations applies JSON patches (RFC 6902, F6–F11): a list of operations on places named
// by JSON pointers (RFC 6901).
//
// It is our own rather than evanphx/json-patch, with which it agrees but where module reference
// says so: that one panics on a `test` against an array with a null in it, copies the whole
// document as it was before the patch, takes pointers that do not begin with a slash, and does any
// amount of work. No goroutines, no state.
package operations
