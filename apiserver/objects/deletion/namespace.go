package deletion

import (
	"time"

	"quorate/apiserver/objects/schema"
)

// The namespaces that every cluster has. They are made at bootstrap (M4) and stay (G41).
const (
	DefaultNamespace = "default"
	SystemNamespace  = "platform-system"
	PublicNamespace  = "platform-public"
)

// permanent reports whether a namespace may not be deleted.
func permanent(name string) bool {
	return name == DefaultNamespace || name == SystemNamespace || name == PublicNamespace
}

func namespaceFinalizers(o *schema.Object) *schema.Value {
	return o.Root().Lookup("spec", "finalizers")
}

// decideNamespace starts the end of a namespace; its content goes before it does (G37–G39, G42).
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

// Emptied decides what follows when a namespace that is going has no content left: the server's
// finalizer goes, and with the last one the namespace.
func Emptied(o *schema.Object) Decision {
	o = o.Copy()
	before := namespaceFinalizers(o).Len()
	dropFinalizers(namespaceFinalizers(o), PlatformFinalizer)
	return afterRelease(o, namespaceFinalizers(o).Len() != before)
}
