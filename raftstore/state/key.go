package state

import "strings"

// keySeparator sorts before every byte that a resource, namespace or name may contain, so keys are
// ordered by resource, then namespace, then name, bytewise.
const keySeparator = "\x00"

// Key identifies an object: resource, namespace (empty if cluster-scoped) and name. It is one
// string so that two keys can be compared in one operation.
type Key string

// NewKey returns the key of an object. The parts must not contain zero bytes.
func NewKey(resource, namespace, name string) Key {
	return Key(resource + keySeparator + namespace + keySeparator + name)
}

// Split returns the parts of the key. They share its memory.
func (k Key) Split() (resource, namespace, name string) {
	resource, rest, _ := strings.Cut(string(k), keySeparator)
	namespace, name, _ = strings.Cut(rest, keySeparator)
	return resource, namespace, name
}

// Resource returns the first part of the key.
func (k Key) Resource() string {
	resource, _, _ := strings.Cut(string(k), keySeparator)
	return resource
}

// Prefix is the common prefix of the keys of a collection: all objects of a resource, or those in
// one namespace.
type Prefix string

// ResourcePrefix covers all objects of a resource, in all namespaces.
func ResourcePrefix(resource string) Prefix { return Prefix(resource + keySeparator) }

// NamespacePrefix covers the objects of a resource in one namespace.
func NamespacePrefix(resource, namespace string) Prefix {
	return Prefix(resource + keySeparator + namespace + keySeparator)
}

// Resource returns the resource that the prefix belongs to.
func (p Prefix) Resource() string { return Key(p).Resource() }

// Namespace returns the namespace of the collection, or "" if it is in all namespaces or in none.
func (p Prefix) Namespace() string {
	_, namespace, _ := Key(p).Split()
	return namespace
}

// Covers reports whether the key lies in the collection.
func (p Prefix) Covers(k Key) bool { return strings.HasPrefix(string(k), string(p)) }
