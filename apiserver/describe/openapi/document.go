package openapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	"quorate/apiserver/rest/route"
)

// document is a document in all its forms. Each form is built when a client first requests it, and
// is kept compressed, because nearly all clients accept compression.
type document struct {
	path     string
	json     func() (*made, error)
	protobuf func() (*made, error) // nil if there is no such form
	media    []string              // accepted media types of protobuf; the first is used in responses
}

// made is one form of a document.
type made struct {
	packed *route.Packed
	hash   string // hash of the document in JSON
}

// newDocument returns a document whose JSON is the result of content. binary converts the JSON to
// protobuf; if it is nil, there is no such form.
func newDocument(path string, content func() (object, error), binary func(text []byte) ([]byte, error), media ...string) *document {
	d := &document{path: path, media: media}
	d.json = sync.OnceValues(func() (*made, error) {
		made, err := makeJSON(content)
		if err != nil {
			return nil, fmt.Errorf("make OpenAPI document %s: %w", path, err)
		}
		return made, nil
	})
	if binary != nil {
		d.protobuf = sync.OnceValues(func() (*made, error) {
			made, err := d.makeProtobuf(binary)
			if err != nil {
				return nil, fmt.Errorf("make OpenAPI document %s in protobuf: %w", path, err)
			}
			return made, nil
		})
	}
	return d
}

func makeJSON(content func() (object, error)) (*made, error) {
	value, err := content()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text.Bytes())
	packed, err := route.Pack(bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return &made{packed, hex.EncodeToString(sum[:])}, err
}

func (d *document) makeProtobuf(binary func(text []byte) ([]byte, error)) (*made, error) {
	plain, err := d.json()
	if err != nil {
		return nil, err
	}
	text, err := plain.packed.Text()
	if err != nil {
		return nil, err
	}
	message, err := binary(text)
	if err != nil {
		return nil, err
	}
	packed, err := route.Pack(message)
	return &made{packed, plain.hash}, err
}
