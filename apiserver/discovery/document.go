package discovery

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

// Document is a discovery document, ready to serve.
type Document struct {
	text []byte
	hash string // of the text
}

func newDocument(path string, content any) (*Document, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("make discovery document %s: %w", path, err)
	}
	sum := sha256.Sum256(text)
	return &Document{text: text, hash: strings.ToUpper(hex.EncodeToString(sum[:]))}, nil
}

// answer writes the document, or that the client has it already (L11).
func (d *Document) answer(c *route.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	if c.Unchanged(`"` + d.hash + "-" + strconv.Itoa(int(form)) + `"`) {
		return nil
	}
	return c.Document(http.StatusOK, d.text, form)
}

// Endpoint serves what document returns at the time, to every authenticated user (L20).
func Endpoint(document func(c *route.Call) *Document) *route.Endpoint {
	return &route.Endpoint{
		Verb: route.VerbGet, Class: route.ClassRead, Authenticated: true,
		Serve: func(c *route.Call) error { return document(c).answer(c) },
	}
}
