// Package openapi serves OpenAPI documents of the served kinds: their paths, parameters and fields
// (semantics L15–L18).
//
// Documents are immutable. The JSON and protobuf encodings of a document are each built when a
// client first requests them. The package has no goroutines.
package openapi
