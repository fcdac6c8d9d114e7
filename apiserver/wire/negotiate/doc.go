// Package negotiate chooses the representation of bodies (specification §4.3): the form of a
// response by Accept, the form of a request body by Content-Type or by its content, indentation,
// and compression. It converts between compact JSON, which is the stored form, and the other forms:
// indented JSON, YAML, and protobuf in its envelope. Compact JSON, the common case, needs no
// conversion.
//
// A List writes a list item by item in every form. In protobuf a length precedes its content, so
// the caller first measures all items. The package has no goroutines and no state.
package negotiate
