package apiserver

import (
	"net/http"
	"strings"
	"time"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/requestlog"
	"quorate/apiserver/rest/route"
)

// logRequest logs a request that is over, if the policy of the request log selects it.
func (h *handler) logRequest(x *exchange, took time.Duration) {
	c := &x.call
	e := requestlog.Entry{
		ID: c.ID[0], Request: c.R, Code: x.code, Bytes: x.bytes, Duration: took, User: c.User, Sender: c.Impersonator(),
	}
	if c.Endpoint != nil {
		e.Verb, e.Write = c.Endpoint.Verb, c.Endpoint.Class == route.ClassWrite
	}
	h.requests.Log(&e)
}

// beginAudit begins the audit trail of a request whose route and user are known, before it is
// authorized.
func (h *handler) beginAudit(x *exchange) {
	if h.audit == nil {
		return
	}
	h.follow(x)
	if x.trail != nil {
		x.call.Recording = x.trail.Recording()
		x.trail.Emit(audit.RequestReceived, x.outcome())
	}
}

// follow asks the audit policy about a request. The sender counts, not whom it impersonates.
func (h *handler) follow(x *exchange) {
	c := &x.call
	x.audited = true
	received := audit.Received{ID: c.ID[0], HTTP: c.R, User: c.Sender, At: c.Now}
	if c.Endpoint != nil {
		c.Describe(&received.Attributes, c.Endpoint.Verb, c.Namespace, c.ListedName())
	} else {
		received.Attributes = auth.Attributes{Verb: strings.ToLower(c.R.Method), Path: c.R.URL.Path}
	}
	x.trail = h.audit.Begin(received)
}

// auditStart records that the stream of a watch has begun.
func (x *exchange) auditStart() {
	if x.trail != nil && x.code == http.StatusOK && x.call.Endpoint != nil && x.call.Endpoint.Verb == route.VerbWatch {
		x.trail.Emit(audit.ResponseStarted, x.outcome())
	}
}

// endAudit records how a request ended. One that was refused before its route was known has no
// other event.
func (h *handler) endAudit(x *exchange) {
	if h.audit == nil {
		return
	}
	if !x.audited {
		if x.call.Endpoint == nil {
			// Only the attributes matter, because the request has failed. Third-party kinds are not
			// looked up: anybody can send such a request, and a lookup may read from the leader.
			_, _ = h.table.Find(&x.call)
		}
		h.follow(x)
	}
	if x.trail == nil {
		return
	}
	stage := audit.ResponseComplete
	if x.panicked {
		stage = audit.Panic
	}
	x.trail.Emit(stage, x.outcome())
}

// outcome describes the request as far as it has come.
func (x *exchange) outcome() audit.Outcome {
	c := &x.call
	o := audit.Outcome{Namespace: c.Namespace, Name: c.ListedName(), Code: x.code, Failure: x.failure, Annotations: c.Annotations()}
	if c.Endpoint != nil && c.Endpoint.NamesNamespace {
		o.Namespace = c.Name
	}
	if c.Impersonator() != nil {
		o.Impersonated = c.User
	}
	o.Allowed, o.Decided = c.Decision()
	if !o.Decided && x.code == http.StatusForbidden {
		o.Allowed, o.Decided = false, true // impersonation was refused
	}
	return o
}
