// Package negotiate chooses the representation of bodies: the media type of an answer from Accept, that of a request from
// Content-Type or by sniffing, and pretty printing. It transcodes between the stored form, compact JSON, and the others.
//
// It is pure: no goroutines, no state. Only the compact JSON path is hot; it does nothing.
package negotiate
