package rest

import (
	"quorate/apiserver/route"
	"quorate/apiserver/status"
)

// replaceStatus stores the status of the body (H2).
func (r *resource) replaceStatus(c *route.Call) error {
	return status.NewNotSupported(c.Subject(), "replace of the status", "")
}

// finalize stores a namespace's spec.finalizers (H7).
func (r *resource) finalize(c *route.Call) error {
	return status.NewNotSupported(c.Subject(), "finalize", "")
}
