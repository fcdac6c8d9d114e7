// Package negotiate chooses the representation of bodies (specification §4.3): the form of a
// response by Accept, the form of a request body by Content-Type or by its content, indentation,
// and compression. It converts between compact JSON, the stored form, and the others: indented
// JSON, YAML, and protobuf in its envelope.
//
// The package has no goroutines and no state. Compact JSON, the common case, needs no conversion.
// List writes a list item by item in every form. In protobuf a length precedes its content, so the
// items of a list are measured before the first is written.
package negotiate
