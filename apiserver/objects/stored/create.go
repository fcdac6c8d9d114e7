package stored

import (
	"net/url"
	"time"

	"github.com/google/uuid"

	"quorate/apiserver/objects/schema"
)

// CollectionPath is the path of a collection, its segments escaped; namespace is empty for all of a
// kind.
func CollectionPath(k *schema.Kind, namespace string) string {
	if namespace == "" {
		return k.Prefix + "/" + k.Plural
	}
	return k.Prefix + "/namespaces/" + url.PathEscape(namespace) + "/" + k.Plural
}

// Begin readies a named object for its creation at the time now: what a client may not set is
// cleared, defaults are set, and it gets its uid. All that replicas must agree on is decided here,
// once (semantics A27, A28).
func Begin(o *schema.Object, now time.Time) {
	o.Kind.PrepareCreate(o)
	o.SetUID(uuid.NewString())
	o.SetCreationTimestamp(now)
	o.SetSelfLink(CollectionPath(o.Kind, o.Namespace()) + "/" + url.PathEscape(o.Name()))
}
