package openapi

import (
	openapi2 "github.com/google/gnostic-models/openapiv2"
	openapi3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
)

// The media types of documents in protobuf: the valid ones, used in responses, and the older ones,
// which stock clients request although they are not valid media types (L16, L18).
const (
	protobuf2Type    = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	protobuf2OldType = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	protobuf3Type    = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
	protobuf3OldType = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
)

// protobuf2 converts a version 2 document to protobuf.
func protobuf2(text []byte) ([]byte, error) {
	document, err := openapi2.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(document)
}

// protobuf3 converts a version 3 document to protobuf.
func protobuf3(text []byte) ([]byte, error) {
	document, err := openapi3.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(document)
}
