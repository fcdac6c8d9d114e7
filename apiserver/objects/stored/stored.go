package stored

import (
	"fmt"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/selector"
	"quorate/raftstore/state"
)

// Namespaces is the resource of Namespace objects, which guard creates in their namespaces.
const Namespaces = "namespaces"

// Key returns the key of an object. namespace is empty for cluster-scoped kinds.
func Key(k *schema.Kind, namespace, name string) state.Key {
	return state.NewKey(k.Resource, namespace, name)
}

// Prefix returns the key prefix of a kind, or of a kind in one namespace.
func Prefix(k *schema.Kind, namespace string) state.Prefix {
	if namespace == "" {
		return state.ResourcePrefix(k.Resource)
	}
	return state.NamespacePrefix(k.Resource, namespace)
}

// Guard returns the key of the namespace that must exist and not be sealed for a create (semantics
// A33), or "" for cluster-scoped kinds.
func Guard(k *schema.Kind, namespace string) state.Key {
	if !k.Namespaced {
		return ""
	}
	return NamespaceKey(namespace)
}

// NamespaceKey returns the key of a namespace.
func NamespaceKey(name string) state.Key { return state.NewKey(Namespaces, "", name) }

// Encode returns the object in stored form, and its encoding for comparison with the previous
// version. It seals a namespace that is being deleted, so that no object can be created in it after
// this write. It hides an object that is not initialized (A30).
func Encode(o *schema.Object) (*state.Object, schema.Encoded) {
	form := o.Kind.ToStorage(o)
	e := form.Encode()
	if form.Initializers().IsSet() {
		e.Fields = selector.Hide(e.Fields)
	}
	_, terminating := form.DeletionTimestamp()
	return &state.Object{
		UID:           e.UID,
		Value:         e.Value,
		VersionOffset: e.VersionOffset,
		Labels:        e.Labels,
		Fields:        e.Fields,
		Sealed:        terminating && form.Kind.Resource == Namespaces,
	}, e
}

// Decode decodes a stored object in the form of kind k, which may be a view.
func Decode(k *schema.Kind, o *state.Object) (*schema.Object, error) {
	decoded, err := k.Storage().DecodeStored(o.Value)
	if err != nil {
		return nil, fmt.Errorf("decode stored object at version %d: %w", o.Version, err)
	}
	return k.FromStorage(decoded)
}
