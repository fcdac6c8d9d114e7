package rest

import (
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
)

// replaceStatus stores the status of the body, and its metadata; the rest stays (H2).
func (r *resource) replaceStatus(c *route.Call) error {
	return r.replaceAs(c, schema.UpdateStatus)
}

// finalize stores a namespace's spec.finalizers; one that is going and has no finalizers left is
// removed (H7).
func (r *resource) finalize(c *route.Call) error {
	return r.replaceAs(c, schema.Finalize)
}
