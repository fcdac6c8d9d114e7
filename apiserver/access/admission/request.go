package admission

import (
	"encoding/json"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
	"quorate/raftstore/state"
)

// Operation is what a request does to an object.
type Operation string

// The operations.
const (
	Create Operation = "CREATE"
	Update Operation = "UPDATE"
	Delete Operation = "DELETE"
)

// Target is what requests are about.
type Target struct {
	// Kind is that of the collection which the path names.
	Kind        *schema.Kind
	Subresource string
	Operation   Operation
}

// Write is one request about one object.
type Write struct {
	// Object and Old are in the form of Target.Kind, or of its Scale. One of them may be nil.
	Object, Old *schema.Object
	Namespace   string
	// Name is empty if the server generates it, and for a delete of a collection.
	Name   string
	User   *auth.User
	DryRun bool
	// Options are the CreateOptions, UpdateOptions or DeleteOptions, as JSON.
	Options json.RawMessage
	// Root is a state that contains the namespace.
	Root *state.Root
	// Request receives what the webhooks have to say, and knows about the resources of the request.
	Request Request
}

// Request is the request that a Write belongs to.
type Request interface {
	// Warn adds a warning to the response.
	Warn(text string)
	// Annotate adds an annotation to the audit event of the request.
	Annotate(key, value string)
	// AuditsBodies reports whether the audit event may contain parts of the object.
	AuditsBodies() bool
	// Wait runs a function that waits for webhooks.
	Wait(call func()) error
	// Reserve reserves memory for an object that takes so many bytes when it is decoded.
	Reserve(bytes int64) error
}
