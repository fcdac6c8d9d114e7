package negotiate

import (
	"bytes"
	"encoding/json"
	"strings"

	"quorate/apiserver/schema"
	"quorate/apiserver/status"
)

// Source is the form of a request's body.
type Source uint8

// The forms of request bodies.
const (
	SourceJSON Source = iota
	SourceYAML
	SourceUnknown // to be found out from the bytes
)

// Sent returns the form of a body by its Content-Type; parameters are ignored (semantics A41, A42).
func Sent(contentType string) (Source, error) {
	media, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "", jsonType:
		return SourceJSON, nil
	case yamlType, "application/x-yaml", "text/yaml":
		return SourceYAML, nil
	case protobufType, kubernetesProtobufType:
		return 0, unsupported()
	}
	return SourceUnknown, nil
}

func unsupported() error { return status.NewUnsupportedMediaType([]string{jsonType, yamlType}) }

// Decode turns a request body into JSON text of at most maxBytes. What the type does not tell is sniffed: JSON, else YAML
// (Z3). The body is not changed.
func Decode(body []byte, source Source, maxBytes int) ([]byte, error) {
	switch source {
	case SourceJSON:
		return body, nil
	case SourceYAML:
		return schema.YAMLToJSON(body, maxBytes)
	}
	switch {
	case len(bytes.TrimSpace(body)) == 0, json.Valid(body):
		return body, nil
	case bytes.HasPrefix(body, []byte("k8s\x00")): // protobuf
		return nil, unsupported()
	}
	decoded, err := schema.YAMLToJSON(body, maxBytes)
	if err != nil || !bytes.HasPrefix(decoded, []byte("{")) {
		return nil, unsupported()
	}
	return decoded, nil
}
