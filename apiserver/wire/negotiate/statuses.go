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

// Statuses writes Status documents in any form (semantics I32).
type Statuses struct{ message *schema.Message }

// NewStatuses takes the Status message of a catalog.
func NewStatuses(c *schema.Catalog) (*Statuses, error) {
	m := c.Message(statusKind)
	if m == nil {
		return nil, errors.New("the catalog has no message " + statusKind)
	}
	return &Statuses{m}, nil
}

// Encode writes a Status in a form.
func (t *Statuses) Encode(s *status.Status, form Form) ([]byte, error) {
	if !form.Binary() {
		return Encode(s.JSON(), form)
	}
	return t.protobuf(s)
}
