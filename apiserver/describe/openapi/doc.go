// Package openapi describes the served kinds in OpenAPI: their paths, parameters and fields
// (semantics L15–L18).
//
// Documents are immutable. Their expensive parts are built when the first client requests them. No
// goroutines.
package openapi
