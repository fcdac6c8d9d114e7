package negotiate

import (
	"fmt"

	"quorate/apiserver/objects/schema"
)

const indent = "  "

// Encode converts a document of the server from compact JSON to a form. For compact JSON it returns
// document itself.
func Encode(document []byte, form Form) (out []byte, err error) {
	switch form {
	case PrettyJSON:
		out, err = schema.Indent(document)
	case YAML:
		out, err = schema.ToYAML(document)
	default:
		return document, nil
	}
	if err != nil {
		return nil, fmt.Errorf("transcode an answer: %w", err)
	}
	return out, nil
}
