package route

import (
	"sync"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/budget"
	"quorate/apiserver/wire/status"
)

// scratch is what a call needs until it has answered, or has begun to follow changes: half of its
// memory, of which a watch would otherwise keep half a KiB. It serves one call after the other.
type scratch struct {
	credential auth.Credential
	body       []byte
	hasBody    bool
	parsed     bool
	bodies     budget.Holding
	expansion  expansion
	encoded    int64 // from Encoded
	answering  budget.Holding
	query      parameters
	match      match
	about      status.Subject // subject of the path, if it has no endpoint for the method
	attributes auth.Attributes
}

// holds reports whether a call has taken memory that it must return.
func (t *scratch) holds() bool {
	return t.bodies.Amount() > 0 || t.expansion.queue != nil || t.encoded > 0 || t.answering.Amount() > 0
}

// scratchPool holds what ended calls had, emptied. The zero value has none.
type scratchPool struct{ pool sync.Pool }

func (p *scratchPool) get() *scratch {
	if t, ok := p.pool.Get().(*scratch); ok {
		return t
	}
	return new(scratch)
}

func (p *scratchPool) put(t *scratch) {
	*t = scratch{}
	p.pool.Put(t)
}

// temporary returns what the call needs until it has answered. Nothing may refer to it after
// Release or Forget.
func (c *Call) temporary() *scratch {
	if c.scratch == nil {
		c.scratch = c.scratches.get()
	}
	return c.scratch
}

// forgetScratch drops what a call that follows changes does not need: all, unless it has taken
// memory, which only Release returns.
func (c *Call) forgetScratch() {
	t := c.scratch
	switch {
	case t == nil:
	case t.holds():
		t.credential, t.query, t.parsed = auth.Credential{}, nil, false
		t.match, t.attributes = match{}, auth.Attributes{}
	default:
		c.scratch = nil
		c.scratches.put(t)
	}
}

// Authenticate makes the user of a credential the call's user and sender.
func (c *Call) Authenticate(by auth.Credential) {
	c.temporary().credential = by
	c.User, c.Sender = by.User, by.User
}

// Credential returns what the request authenticated with, until Forget; watches end with it.
func (c *Call) Credential() auth.Credential { return c.temporary().credential }
