package route

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
)

// Call is one request that is being served.
type Call struct {
	W        http.ResponseWriter
	R        *http.Request
	Now      time.Time // when the request came in
	User     *auth.User
	Sender   *auth.User // who is charged for the request: User, or who impersonates User
	Endpoint *Endpoint
	// Namespace and Name are the decoded path segments; empty where the path has none.
	Namespace string
	Name      string

	// Authorizer decides late authorizations.
	Authorizer auth.Authorizer
	// Bodies is the budget for the memory of the body.
	Bodies *Budget
	// Encoded is the budget for the memory of lists that are kept encoded.
	Encoded *Budget
	// Faults records errors that have no Status of their own.
	Faults Faults
	// Statuses writes a Status in any form.
	Statuses *negotiate.Statuses

	body       []byte
	hasBody    bool
	taken      int64 // from Bodies
	encoded    int64 // from Encoded
	query      url.Values
	parsed     bool
	match      match
	about      status.Subject // of the path's endpoints, when none of them is for the method
	attributes auth.Attributes
	length     [1]string // of the Content-Length header, without an allocation of its own
}

// Faults records faults of the server.
type Faults interface {
	Unforeseen(c *Call, err error)
}

// Query returns the parsed query, for the endpoint's verb.
func (c *Call) Query() Query {
	if c.R.URL.RawQuery == "" {
		return Query{}
	}
	if !c.parsed {
		c.parsed, c.query = true, c.R.URL.Query()
	}
	return Query{c.query, c.verbs()}
}

// maxKeptBytes is the length to which Forget cuts the values that it keeps.
const maxKeptBytes = 256

// Forget drops the query and all header fields but User-Agent and X-Forwarded-For, which the log of
// requests may name. A watch calls it once it has begun: it would keep up to 200 KB of its request
// for as long as it lasts.
func (c *Call) Forget() {
	c.query = nil
	u := c.R.URL
	c.R.URL = &url.URL{Path: strings.Clone(u.Path)}
	c.R.RequestURI = ""
	kept := make(http.Header, 2)
	for _, name := range []string{"User-Agent", "X-Forwarded-For"} {
		if v := c.R.Header.Get(name); v != "" {
			kept[name] = []string{strings.Clone(v[:min(len(v), maxKeptBytes)])}
		}
	}
	c.R.Header = kept
}

// Subject returns the resource and name that the call is about.
func (c *Call) Subject() status.Subject {
	if c.Endpoint == nil {
		return c.about
	}
	s := c.Endpoint.Subject
	s.Name = c.Name
	return s
}

// Authorize asks whether the user may do this; namespace is where, as far as that is known.
func (c *Call) Authorize(namespace, name string) error {
	return c.AuthorizeAs(c.Endpoint.Verb, namespace, name)
}

// AuthorizeAs is Authorize with another verb than the endpoint's, for what a request does besides:
// a PUT that creates needs the verb create as well (E12).
func (c *Call) AuthorizeAs(verb, namespace, name string) error {
	e := c.Endpoint
	a := &c.attributes
	*a = auth.Attributes{Verb: verb}
	if e.Subject.Plural == "" {
		a.Path = c.R.URL.Path
	} else {
		a.Group, a.Version, a.Resource, a.Subresource = e.Subject.Group, e.Version, e.Subject.Plural, e.Subresource
		a.Namespace, a.Name = namespace, name
		if e.NamesNamespace {
			a.Namespace = name
		}
	}
	if c.Authorizer.Allows(c.User, a) {
		return nil
	}
	if a.Path != "" {
		return status.NewForbiddenPath(auth.Denial(c.User, a))
	}
	about := c.Subject()
	about.Name = name // also that of a field selector on metadata.name (J15)
	return status.NewForbidden(about, auth.Denial(c.User, a))
}

// Deadline returns the request's context bounded by limit, or by the shorter timeout or
// timeoutSeconds that the request asks for (I24, C42).
func (c *Call) Deadline(limit time.Duration) (context.Context, context.CancelFunc, error) {
	q := c.Query()
	seconds, err := q.TimeoutSeconds()
	if err != nil {
		return nil, nil, err
	}
	asked, err := q.Timeout()
	if err != nil {
		return nil, nil, err
	}
	for _, d := range []time.Duration{seconds, asked} {
		if d > 0 {
			limit = min(limit, d)
		}
	}
	ctx, cancel := context.WithTimeout(c.R.Context(), limit)
	return ctx, cancel, nil
}
