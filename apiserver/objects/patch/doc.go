// Package patch applies the three types of patches (specification §4.2, §4.3; semantics F): JSON
// patch in package operations, merge patch in package merge, strategic merge patch in package
// strategic. All of them work on JSON text through package tree.
//
// All functions are pure: no goroutines, no state, no HTTP. A Patch never changes and is safe for
// concurrent use, so a handler can retry it on the newest object until the write succeeds (F31).
// Errors are *status.Error values.
package patch
