// Package stored is the way from decoded objects to what the store keeps: keys, guards and encoded
// objects.
//
// It is pure: no goroutines, no state.
package stored
