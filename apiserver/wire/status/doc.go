// Package status converts errors to the responses that clients see: a Status document
// (specification §2.2) and an HTTP code. It is the only place where this happens. All texts are in
// wording.go, so that they can be compared with the reference (semantics I).
//
// The package has no goroutines and no state.
package status
