// Package operations applies JSON patches (RFC 6902, F6–F11): a list of operations on places that
// JSON pointers (RFC 6901) name.
//
// The package replaces evanphx/json-patch and agrees with it except where module reference lists
// differences: that library panics on a `test` against an array that contains null, copies the
// whole document as it was before the patch, accepts pointers without a leading slash, and does an
// unbounded amount of work. No goroutines, no state.
package operations
