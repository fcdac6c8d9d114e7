// Package cells computes the cells of Tables that need more than the value of one field, such as
// the status of a pod. A kind file declares the columns of a kind and selects the renderer of a
// column with the key "render". Each file of this package contains the renderers of one family of
// kinds; renderers.go contains those that any kind can use, and lists all of them.
//
// All functions are pure.
package cells
