// Package operations applies JSON patches (RFC 6902, F6–F11): lists of operations on values that
// JSON pointers (RFC 6901) identify.
//
// The package replaces evanphx/json-patch, and behaves the same except for the differences that
// module reference lists. That library panics on a `test` against an array that contains null,
// copies the original document instead of the current one, accepts pointers without a leading
// slash, and by default does not limit its work. All functions are pure.
package operations
