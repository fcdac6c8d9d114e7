// Package stored converts decoded objects to their stored form: keys, guards and encoded objects.
// All functions are pure.
package stored
