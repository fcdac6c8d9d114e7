package negotiate

import (
	"errors"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

const (
	statusKind    = "Status"
	statusVersion = "v1"
)

// Statuses encodes Status documents in any form, because errors come in the negotiated form (I32).
type Statuses struct{ message *schema.Message }

// NewStatuses returns a Statuses that uses the Status message of a catalog.
func NewStatuses(c *schema.Catalog) (*Statuses, error) {
	m := c.Message(statusKind)
	if m == nil {
		return nil, errors.New("the catalog has no message " + statusKind)
	}
	return &Statuses{m}, nil
}

// Encode returns a Status in a form.
func (t *Statuses) Encode(s *status.Status, form Form) ([]byte, error) {
	if !form.Binary() {
		return Encode(s.JSON(), form)
	}
	return t.protobuf(s)
}
