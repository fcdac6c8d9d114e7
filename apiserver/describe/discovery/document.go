package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
)

// Document is an encoded discovery document.
type Document struct {
	text   []byte
	hash   string   // hash of text
	turned []turned // other documents that clients may request at the same path
}

// turned is an alternative to a document, and the target by which clients request it.
type turned struct {
	target   negotiate.Target
	document *Document
}

func newDocument(path string, content any) (*Document, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("make discovery document %s: %w", path, err)
	}
	sum := sha256.Sum256(text)
	return &Document{text: text, hash: strings.ToUpper(hex.EncodeToString(sum[:]))}, nil
}

// answer responds with the document, or with 304 if the client already has it (L11).
func (d *Document) answer(c *route.Call) error {
	chosen, form, target, err := d.choose(c)
	if err != nil {
		return err
	}
	if c.Unchanged(`"` + chosen.hash + "-" + strconv.Itoa(int(form)) + `"`) {
		return nil
	}
	return c.DocumentAs(target, chosen.text, form)
}

// choose returns the document that the client prefers: this one or one of its alternatives.
func (d *Document) choose(c *route.Call) (*Document, negotiate.Form, negotiate.Target, error) {
	if len(d.turned) == 0 {
		form, err := c.Form()
		return d, form, negotiate.Target{}, err
	}
	forms := negotiate.Offered(negotiate.YAML)
	variants := []negotiate.Variant{{Forms: forms}}
	for _, t := range d.turned {
		variants = append(variants, negotiate.Variant{Target: t.target, Forms: forms})
	}
	form, target, err := c.Choose(variants)
	for _, t := range d.turned {
		if t.target == target {
			return t.document, form, target, err
		}
	}
	return d, form, target, err
}

// Endpoint returns an endpoint that serves a document to every authenticated user (L20). The
// function returns the document in effect.
func Endpoint(document func(c *route.Call) *Document) *route.Endpoint {
	return &route.Endpoint{
		Verb: route.VerbGet, Class: route.ClassRead, Authenticated: true,
		Serve: func(c *route.Call) error { return document(c).answer(c) },
	}
}
