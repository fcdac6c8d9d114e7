package rest

import (
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
)

// replaceStatus stores the status and metadata of the body and nothing else (H2).
func (r *resource) replaceStatus(c *route.Call) error {
	return r.replaceAs(c, schema.UpdateStatus)
}

// finalize stores the spec.finalizers of a namespace. If the namespace is being deleted and has no
// finalizers left, it is removed (H7).
func (r *resource) finalize(c *route.Call) error {
	return r.replaceAs(c, schema.Finalize)
}
