// Package patch holds the three kinds of patches (specification §4.2, §4.3; semantics F): JSON
// patch in package operations, merge patch in package merge, strategic merge patch in package
// strategic. All work on JSON text by way of package tree.
//
// Everything is a pure function: no goroutines, no state, no HTTP. A Patch never changes and is
// safe for concurrent use, so that a handler applies one to the newest object again and again until
// its write wins (F31). Errors are *status.Error values.
package patch
