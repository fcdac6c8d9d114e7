package openapi

import (
	"net/http"
	"strconv"

	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
)

// cacheYears is the time for which clients may cache a document that they requested by its hash.
const cacheYears = 1

// address returns the address of the document with its current hash (L15).
func (d *document) address() (string, error) {
	made, err := d.json()
	if err != nil {
		return "", err
	}
	return d.path + "?hash=" + made.hash, nil
}

// answer responds with the document in the form that the client accepts (L16, L18).
func (d *document) answer(c *route.Call) error {
	offered := append([]string{mediaJSON, mediaYAML}, d.media...)
	chosen, err := negotiate.Media(c.R, offered...)
	if err != nil {
		return err
	}
	plain, err := d.json()
	if err != nil {
		return err
	}
	if hash := c.Query().Get("hash"); hash != "" && hash != plain.hash {
		return d.redirect(c)
	} else if hash != "" {
		h := c.W.Header()
		h.Set("Cache-Control", "public, immutable")
		h.Set("Expires", c.Now.UTC().AddDate(cacheYears, 0, 0).Format(http.TimeFormat))
	}
	if chosen > 1 {
		return d.answerProtobuf(c, plain.hash)
	}
	return answerText(c, plain)
}

// redirect redirects a client from an address with an outdated hash to the current one.
func (d *document) redirect(c *route.Call) error {
	address, err := d.address()
	if err != nil {
		return err
	}
	c.W.Header().Set("Location", address)
	c.W.WriteHeader(http.StatusMovedPermanently)
	return nil
}

func (d *document) answerProtobuf(c *route.Call, hash string) error {
	made, err := d.protobuf()
	if err != nil || c.Unchanged(`"`+hash+`-protobuf"`) {
		return err
	}
	return c.Packed(made.packed, d.media[0])
}

// answerText responds with the document as JSON, optionally indented, or as YAML.
func answerText(c *route.Call, plain *made) error {
	form, err := c.Form()
	if err != nil || c.Unchanged(`"`+plain.hash+"-"+strconv.Itoa(int(form))+`"`) {
		return err
	}
	if form == negotiate.JSON {
		return c.Packed(plain.packed, mediaJSON)
	}
	text, err := plain.packed.Text()
	if err != nil {
		return err
	}
	return c.Document(http.StatusOK, text, form)
}
