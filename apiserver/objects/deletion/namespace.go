package deletion

import (
	"time"

	"quorate/apiserver/objects/schema"
)

// The namespaces that every cluster has. Bootstrap creates them (M4), and they cannot be deleted
// (G41).
const (
	DefaultNamespace = "default"
	SystemNamespace  = "platform-system"
	PublicNamespace  = "platform-public"
)

// permanent reports whether a namespace cannot be deleted.
func permanent(name string) bool {
	return name == DefaultNamespace || name == SystemNamespace || name == PublicNamespace
}

func namespaceFinalizers(o *schema.Object) *schema.Value {
	return o.Root().Lookup("spec", "finalizers")
}

// decideNamespace marks a namespace as terminating. Its content is deleted before the namespace
// itself (G37–G39, G42).
func decideNamespace(o *schema.Object, now time.Time) Decision {
	if permanent(o.Name()) {
		return Decision{Action: Refuse, Object: o}
	}
	if Complete(o) {
		return Decision{Action: Remove, Object: o}
	}
	if _, terminating := o.DeletionTimestamp(); terminating {
		return Decision{Action: Nothing, Object: o}
	}
	o.SetDeletion(now, 0)
	o.Root().Make("status").Make("phase").SetStr(terminatingPhase)
	return Decision{Action: Mark, Object: o}
}

// Emptied decides about a terminating namespace that has no content left: it drops the server's
// finalizer, and removes the namespace if that was the last one.
func Emptied(o *schema.Object) Decision {
	o = o.Copy()
	before := namespaceFinalizers(o).Len()
	dropFinalizers(namespaceFinalizers(o), PlatformFinalizer)
	return afterRelease(o, namespaceFinalizers(o).Len() != before)
}
