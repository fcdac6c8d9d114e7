package route

import (
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

// Class selects the bound on concurrent requests that applies to an endpoint.
type Class uint8

// The classes of endpoints.
const (
	ClassRead Class = iota
	ClassWrite
	ClassStream // a watch: bounded by package watch
	ClassExempt // health: cheap, and a supervisor would restart a node that refuses to answer
)

// The verbs that more than one package names (semantics J13).
const (
	VerbGet    = "get"
	VerbList   = "list"
	VerbWatch  = "watch"
	VerbCreate = "create"
	VerbUpdate = "update"
	VerbDelete = "delete"
	VerbPatch  = "patch"

	VerbDeleteCollection = "deletecollection"
)

// Endpoint is one method of one path, or of a family of paths.
type Endpoint struct {
	// Verb is the verb for the authorizer and for metrics.
	Verb  string
	Class Class
	// Subject says what the endpoint is about: group, plural and kind; empty for non-resource
	// paths.
	Subject status.Subject
	Version string
	// Kind is that of the objects that are answered with; nil for other documents, which have no
	// protobuf form.
	Kind *schema.Kind
	// Subresource is empty for the object itself.
	Subresource string
	// Authenticated endpoints are open to every authenticated user (L20); of the others the
	// authorizer decides.
	Authenticated bool
	// LateAuthorization: the handler authorizes, when it has read the namespace from the body (A6).
	LateAuthorization bool
	// NamesNamespace: the name is that of a namespace, which the request is then said to be in
	// (J16).
	NamesNamespace bool

	// Serve answers the call, or returns an error when it has not written anything yet.
	Serve func(c *Call) error

	// Watch, when set, is the endpoint instead of this one for `?watch=true` (C45).
	Watch *Endpoint

	// Series are the metrics of this endpoint, set by the front when it is registered.
	Series *Series
}

func (e *Endpoint) hasProtobuf() bool { return e.Kind != nil && e.Kind.HasProtobuf() }
