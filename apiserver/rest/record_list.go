package rest

import (
	"errors"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/negotiate"
)

// errRecorded ends the walk of a list that is too long for the audit log.
var errRecorded = errors.New("the list is longer than what is recorded")

// recordList keeps the list for the audit log, as JSON whatever the client gets: up to the first
// item that makes it too long.
func (r *resource) recordList(c *route.Call, as *representation, p *page) error {
	if err := p.settle(); err != nil { // the items are walked once more
		return err
	}
	shown := *as
	shown.form = negotiate.JSON
	l, prefix := r.listOf(&shown)
	l.Metadata = r.listMetadata(c.Namespace, p)
	b, err := l.AppendHead(nil)
	if err != nil {
		return err
	}
	err = r.values(c, &shown, p, 0, func(value []byte) error {
		if b, err = l.AppendItem(b, value, prefix); err == nil && len(b) > audit.MaxObjectBytes {
			err = errRecorded
		}
		return err
	})
	if errors.Is(err, errRecorded) {
		c.Recording.KeepResponse(b)
		return nil
	}
	if err == nil {
		b, err = l.AppendTail(b)
	}
	c.Recording.KeepResponse(b)
	return err
}
