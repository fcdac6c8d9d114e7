package route

import (
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
)

// Class selects the limit on concurrent requests that applies to an endpoint.
type Class uint8

// The classes of endpoints.
const (
	ClassRead Class = iota
	ClassWrite
	ClassStream // a watch: a read until it has started, limited by package watch
	ClassExempt // health checks: cheap, and refusing them could make a supervisor restart the node
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

// Endpoint is a method of a path, or of a family of paths.
type Endpoint struct {
	// Verb is the verb for authorization and metrics.
	Verb  string
	Class Class
	// Subject is the group, plural and kind of the endpoint; empty for non-resource paths.
	Subject status.Subject
	Version string
	// Kind is the kind of the objects in responses; nil for other documents, which have no protobuf
	// form.
	Kind *schema.Kind
	// Subresource is empty for the object itself.
	Subresource string
	// Authenticated means that every authenticated user may use the endpoint (L20). Otherwise the
	// authorizer decides.
	Authenticated bool
	// LateAuthorization means that the handler authorizes the request after it has read the
	// namespace from the body (A6).
	LateAuthorization bool
	// NamesNamespace means that the name is that of a namespace. The request is authorized in this
	// namespace (J16).
	NamesNamespace bool

	// MaxBody is the size of the largest body, MaxBodyBytes if it is 0.
	MaxBody int64

	// Cost estimates how many seats the call takes, compared with a get; nil means one.
	Cost func(c *Call) int
	// Serve responds to the call, or returns an error if it has not written anything.
	Serve func(c *Call) error

	// Watch, if not nil, replaces this endpoint for `?watch=true` (C45).
	Watch *Endpoint

	// Series holds the metrics of the endpoint. Package apiserver sets it when it registers the
	// endpoint.
	Series *Series
}

func (e *Endpoint) hasProtobuf() bool { return e.Kind != nil && e.Kind.HasProtobuf() }
