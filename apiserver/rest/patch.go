package rest

import (
	"quorate/apiserver/route"
	"quorate/apiserver/status"
)

// patch changes an object by a patch (F).
func (r *resource) patch(c *route.Call) error {
	return status.NewNotSupported(c.Subject(), "patch", "")
}

// patchStatus changes the status of an object by a patch (F34).
func (r *resource) patchStatus(c *route.Call) error {
	return status.NewNotSupported(c.Subject(), "patch", "")
}
