// Package stored converts decoded objects to the form in which the store keeps them: keys, guards
// and encoded objects.
//
// It is pure: no goroutines, no state.
package stored
