// Package status converts errors to the responses that clients see: a Status document
// (specification §2.2) and an HTTP code. It is the only place where this happens. The texts of most
// failures are in wording.go, so that they can be compared with the reference (semantics I); those
// of invalid objects and of watches are in invalid.go and watch.go.
//
// The package has no goroutines and no state.
package status
