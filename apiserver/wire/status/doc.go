// Package status is the one place where an error becomes what a client sees: a Status document
// (specification §2.2) and an HTTP code. All wording stands in wording.go, so that it can be
// compared with the reference (semantics I).
//
// It is pure: no goroutines, no state.
package status
