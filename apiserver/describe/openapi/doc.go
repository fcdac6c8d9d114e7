// Package openapi describes the served kinds to clients in OpenAPI: their paths, options and fields
// (semantics L15–L18).
//
// Documents are immutable; what is expensive is made when the first client asks for it. No
// goroutines.
package openapi
