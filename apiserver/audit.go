package apiserver

import (
	"time"

	"quorate/apiserver/access/requestlog"
	"quorate/apiserver/rest/route"
)

// logRequest logs a request that is over, if the policy of the request log selects it.
func (f *front) logRequest(x *exchange, took time.Duration) {
	c := &x.call
	e := requestlog.Entry{
		ID: x.id[0], Request: c.R, Code: x.code, Bytes: x.bytes, Duration: took, User: c.User, Sender: x.sender,
	}
	if c.Endpoint != nil {
		e.Verb, e.Write = c.Endpoint.Verb, c.Endpoint.Class == route.ClassWrite
	}
	f.requests.Log(&e)
}
