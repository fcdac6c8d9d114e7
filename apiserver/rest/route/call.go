package route

import (
	"net/http"
	"time"

	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/budget"
	"quorate/apiserver/access/fairness"
	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/wire/cancel"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
)

// Call is one request and its response.
type Call struct {
	W   http.ResponseWriter
	R   *http.Request
	Now time.Time // when the request arrived
	ID  [1]string // the value of Audit-Id

	User      *auth.User
	Sender    *auth.User // who is charged for the request: User, or who impersonates User
	Voluntary *auth.User // whose credentials came with a request to a path that needs none; nil elsewhere
	Endpoint  *Endpoint
	// Namespace and Name are the decoded path segments; "" if the path does not have them.
	Namespace string
	Name      string

	*Services
	// Seat is what the call holds of its priority level. The response leaves it once its bytes are
	// ready.
	Seat fairness.Seat
	// Next is what is left to do after the endpoint has served the call, nil for nothing.
	Next Follower

	// Recording keeps the bodies for the audit log; nil unless its policy asks for them.
	Recording *audit.Recording

	annotations audit.Annotations

	scratch *scratch  // nil until it is needed, and after Release; see Call.temporary
	allowed bool      // by the authorizer, at least once
	denied  bool      // by the authorizer
	length  [1]string // Content-Length header, to avoid an allocation
}

// Services is what all calls of a server share.
type Services struct {
	// Authorizer authorizes requests that cannot be authorized before their body is read.
	Authorizer auth.Authorizer
	// Answers is the budget for the memory of responses that may wait for their clients.
	Answers *budget.Pool
	// Bodies is the budget for the memory of request bodies.
	Bodies *budget.Pool
	// Decodings is the budget for the memory that decoding takes; nil means no bound.
	Decodings *Decodings
	// Encoded is the budget for the memory of encoded lists.
	Encoded *Budget
	// Kept has the headers of calls that have begun to follow changes.
	Kept KeptHeaders
	// Faults records internal errors.
	Faults Faults
	// Statuses encodes a Status in any form.
	Statuses *negotiate.Statuses

	scratches scratchPool
}

// Follower sends the changes of a watch.
type Follower interface {
	// Follow returns true at the end of the watch. If it returns false, it will have itself called
	// again (response.Resume of h2).
	Follow() (done bool)
}

// Faults records internal errors of the server.
type Faults interface {
	// InternalError logs and counts an error of a call that does not map to a Status.
	InternalError(c *Call, err error)
}

// InternalError logs and counts an error that does not map to a Status.
func (c *Call) InternalError(err error) { c.Faults.InternalError(c, err) }

// Query returns the parsed query. The parameters that can be read depend on the endpoint's verb.
func (c *Call) Query() Query {
	if c.R.URL.RawQuery == "" {
		return Query{}
	}
	t := c.temporary()
	if !t.parsed {
		t.parsed, t.query = true, parseParameters(c.R.URL.RawQuery)
	}
	return Query{t.query, c.verbs()}
}

// Impersonator returns the sender of a request that impersonates User; nil if nobody is
// impersonated.
func (c *Call) Impersonator() *auth.User {
	if c.Sender == c.User {
		return nil
	}
	return c.Sender
}

// Subject returns the resource and name of the request.
func (c *Call) Subject() status.Subject {
	if c.Endpoint == nil {
		return c.temporary().about
	}
	s := c.Endpoint.Subject
	s.Name = c.Name
	return s
}

// Authorize checks that the user may perform the request in a namespace on an object with a name,
// as far as these are known.
func (c *Call) Authorize(namespace, name string) error {
	return c.AuthorizeAs(c.Endpoint.Verb, namespace, name)
}

// AuthorizeAs is Authorize with another verb than the endpoint's, for an additional effect of a
// request: a PUT that creates an object also requires the verb create (E12).
func (c *Call) AuthorizeAs(verb, namespace, name string) error {
	a := &c.temporary().attributes
	c.Describe(a, verb, namespace, name)
	if c.Authorizer.Allows(c.User, a) {
		c.allowed = true
		return nil
	}
	c.denied = true
	if a.Path != "" {
		return status.NewForbiddenPath(auth.Denial(c.User, a))
	}
	about := c.Subject()
	about.Name = name // may come from a field selector on metadata.name (J15)
	return status.NewForbidden(about, auth.Denial(c.User, a))
}

// AuthorizeObject checks that the user may get an object of another resource than the endpoint's,
// for a response that contains it. The name of a Namespace is also the namespace (J16).
func (c *Call) AuthorizeObject(group, plural, namespace, name string) error {
	a := auth.Attributes{Verb: VerbGet, Group: group, StoredGroup: group, Resource: plural, Namespace: namespace, Name: name}
	if group == "" && plural == "namespaces" {
		a.Namespace = name
	}
	if c.Authorizer.Allows(c.User, &a) {
		return nil
	}
	c.denied = true
	return status.NewForbidden(status.Subject{Group: group, Plural: plural, Name: name}, auth.Denial(c.User, &a))
}

// AuthorizeSomewhere asks whether the user may do this in any namespace at all, before the body
// says in which. The refusal names the default namespace, which a body without one means.
func (c *Call) AuthorizeSomewhere() error {
	a := &c.temporary().attributes
	c.Describe(a, c.Endpoint.Verb, "", "")
	if c.Authorizer.AllowsSomewhere(c.User, a) {
		return nil
	}
	c.denied = true
	a.Namespace = deletion.DefaultNamespace
	return status.NewForbidden(c.Subject(), auth.Denial(c.User, a))
}

// Timeout returns the request's context with a timeout: limit, or the parameter timeout or
// timeoutSeconds if that is shorter (I24, C42). The caller must stop it.
func (c *Call) Timeout(limit time.Duration) (*cancel.Timeout, error) {
	q := c.Query()
	seconds, err := q.TimeoutSeconds()
	if err != nil {
		return nil, err
	}
	asked, err := q.Timeout()
	if err != nil {
		return nil, err
	}
	for _, d := range []time.Duration{seconds, asked} {
		if d > 0 {
			limit = min(limit, d)
		}
	}
	ctx := new(cancel.Timeout)
	ctx.Init(c.R.Context(), time.Now().Add(limit))
	return ctx, nil
}
