// Package negotiate chooses the representation of bodies (specification §4.3): the form of an
// answer from Accept, that of a request from Content-Type or by sniffing, pretty printing and
// compression. It transcodes between the stored form, compact JSON, and the others: indented JSON,
// YAML, and protobuf in its envelope.
//
// It is pure: no goroutines, no state. Only the compact JSON path is hot; it does nothing. A list
// is written item by item in every form (List); protobuf has lengths before what they count, so its
// items are measured first.
package negotiate
