package rest

import (
	"quorate/apiserver/route"
	"quorate/apiserver/status"
)

// deleteCollection deletes the selected objects of a collection (G30–G36).
func (r *resource) deleteCollection(c *route.Call) error {
	return status.NewNotSupported(c.Subject(), "delete collection", "")
}
