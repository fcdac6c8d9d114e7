package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"quorate/apiserver/route"
)

// document is a document, ready to serve.
type document struct {
	text []byte
	hash string // of the text
}

func newDocument(path string, content any) (*document, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("make OpenAPI document %s: %w", path, err)
	}
	sum := sha256.Sum256(text)
	return &document{text: text, hash: strings.ToUpper(hex.EncodeToString(sum[:]))}, nil
}

func (d *document) answer(c *route.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	if c.Unchanged(`"` + d.hash + "-" + strconv.Itoa(int(form)) + `"`) {
		return nil
	}
	return c.Document(http.StatusOK, d.text, form)
}
