package stored

import (
	"net/url"
	"time"

	"github.com/google/uuid"

	"quorate/apiserver/objects/schema"
)

// CollectionPath returns the URL path of a collection with escaped segments. An empty namespace
// means the collection of all namespaces.
func CollectionPath(k *schema.Kind, namespace string) string {
	if namespace == "" {
		return k.Prefix + "/" + k.Plural
	}
	return k.Prefix + "/namespaces/" + url.PathEscape(namespace) + "/" + k.Plural
}

// Begin prepares a named object for its creation at time now: it clears the fields that clients may
// not set, sets defaults, uid and creationTimestamp. Random values and times are thus chosen before
// the entry is replicated, so that all nodes store the same object (semantics A27, A28).
func Begin(o *schema.Object, now time.Time) {
	o.Kind.PrepareCreate(o)
	o.SetUID(uuid.NewString())
	o.SetCreationTimestamp(now)
	o.SetSelfLink(CollectionPath(o.Kind, o.Namespace()) + "/" + url.PathEscape(o.Name()))
}
