package route

import (
	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/selector"
)

// Describe sets a to the attributes of a request with a verb for the endpoint's resource or path.
func (c *Call) Describe(a *auth.Attributes, verb, namespace, name string) {
	e := c.Endpoint
	*a = auth.Attributes{Verb: verb}
	if e.Subject.Plural == "" {
		a.Path = c.R.URL.Path
		return
	}
	a.Group, a.Version, a.Resource, a.Subresource = e.Subject.Group, e.Version, e.Subject.Plural, e.Subresource
	a.Namespace, a.Name = namespace, name
	a.StoredGroup = a.Group
	if e.Kind != nil {
		a.StoredGroup = e.Kind.Storage().Group
	}
	if e.NamesNamespace {
		a.Namespace = name
	}
}

// ListedName returns the name of the path or, for a list or a watch without one, the only name that
// its field selector allows (J15).
func (c *Call) ListedName() string {
	if c.Name == "" && c.Endpoint != nil && (c.Endpoint.Verb == VerbList || c.Endpoint.Verb == VerbWatch) {
		return selector.NameOf(c.Query().Get("fieldSelector"))
	}
	return c.Name
}

// Decision returns whether the request was allowed, and false if nobody has decided yet.
func (c *Call) Decision() (allowed, decided bool) {
	open := c.Endpoint != nil && c.Endpoint.Authenticated && c.User != nil
	return !c.denied, c.denied || c.allowed || open
}

// Annotate adds an annotation to the audit event of the call, or replaces the one with its key.
func (c *Call) Annotate(key, value string) { c.annotations.Add(key, value) }

// Annotations returns the annotations of the audit event.
func (c *Call) Annotations() *audit.Annotations { return &c.annotations }
