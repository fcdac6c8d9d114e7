package deletion

import (
	"slices"

	"quorate/apiserver/objects/schema"
)

// Policy says how a delete treats the object's dependents (§3 rules 3–5, G21–G25).
type Policy uint8

// The policies.
const (
	Unset      Policy = iota // use the policy of the object's finalizers, else the kind's default
	Background               // delete them after the object is removed
	Foreground               // delete them before the object is removed
	Orphan                   // keep them and drop their references to the object
)

// The finalizers with which a delete requests work of the garbage collector.
const (
	OrphanFinalizer     = "orphan"
	ForegroundFinalizer = "foregroundDeletion"
)

// notCollected is the default propagation of kinds that the garbage collector ignores.
const notCollected = "None"

// Collected reports whether the garbage collector handles objects of a kind. For other kinds
// policies are ignored (G24).
func Collected(k *schema.Kind) bool { return k.Strategy.DefaultPropagation != notCollected }

// apply adds the finalizers that the policy requires and removes the others of the garbage
// collector.
func (p Policy) apply(o *schema.Object) {
	wanted := ""
	switch p.of(o) {
	case Foreground:
		wanted = ForegroundFinalizer
	case Orphan:
		wanted = OrphanFinalizer
	}
	for _, name := range []string{OrphanFinalizer, ForegroundFinalizer} {
		if name != wanted {
			dropFinalizers(o.Finalizers(), name)
		}
	}
	if wanted != "" && !HasFinalizer(o, wanted) {
		o.MakeFinalizers().Append().SetStr(wanted)
	}
}

// of returns p, or if p is Unset, the policy that the object's finalizers or its kind's default
// imply (§3 rule 3).
func (p Policy) of(o *schema.Object) Policy {
	switch {
	case !Collected(o.Kind):
		return Background
	case p != Unset:
		return p
	case HasFinalizer(o, OrphanFinalizer):
		return Orphan
	case HasFinalizer(o, ForegroundFinalizer):
		return Foreground
	}
	switch o.Kind.Strategy.DefaultPropagation {
	case "Orphan":
		return Orphan
	case "Foreground":
		return Foreground
	}
	return Background
}

// HasFinalizer reports whether the object's metadata contains a finalizer.
func HasFinalizer(o *schema.Object, name string) bool {
	for _, f := range o.Finalizers().Items() {
		if f.Str() == name {
			return true
		}
	}
	return false
}

// Released decides about an object for which the garbage collector has done what a finalizer
// requested: it drops the finalizer, and removes the object if that was the last one.
func Released(o *schema.Object, finalizer string) Decision {
	o = o.Copy()
	before := o.Finalizers().Len()
	dropFinalizers(o.Finalizers(), finalizer)
	return afterRelease(o, o.Finalizers().Len() != before)
}

// afterRelease decides about an object whose finalizers may have been removed: remove it if none is
// left, else store it if changed is set.
func afterRelease(o *schema.Object, changed bool) Decision {
	switch {
	case Complete(o):
		return Decision{Action: Remove, Object: o}
	case changed:
		return Decision{Action: Mark, Object: o}
	}
	return Decision{Action: Nothing, Object: o}
}

// dropFinalizers removes names from a list of finalizers.
func dropFinalizers(list *schema.Value, names ...string) {
	for i := list.Len() - 1; i >= 0; i-- {
		if slices.Contains(names, list.At(i).Str()) {
			list.RemoveAt(i)
		}
	}
}
