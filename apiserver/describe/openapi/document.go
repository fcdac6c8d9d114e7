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

// document is a document in all its forms. Each form is built for the first client that requests it
// and kept compressed, since nearly all clients accept compression.
type document struct {
	path     string
	json     func() (*made, error)
	protobuf func() (*made, error) // nil when there is no such form
	media    []string              // of protobuf, the one answered with first
}

// made is a form of a document.
type made struct {
	packed *route.Packed
	hash   string // of the document in JSON
}

// newDocument returns a document with the JSON that content returns. binary converts it to
// protobuf; nil when it has no such form.
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
