package rest

import (
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
)

// Unstored reads the object of a create request that stores nothing, such as a review, and the form
// of its response.
func Unstored(c *route.Call) (*schema.Object, negotiate.Form, error) {
	r := &resource{kind: c.Endpoint.Kind, variants: newVariants(c.Endpoint.Kind, nil)}
	w, err := r.begin(c, "CreateOptions")
	if err != nil {
		return nil, negotiate.JSON, err
	}
	o, err := r.decode(c, w)
	if err != nil {
		return nil, negotiate.JSON, err
	}
	_, err = r.namespace(c, o)
	return o, w.as.form, err
}
