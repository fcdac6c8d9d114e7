package deletion

import (
	"slices"

	"quorate/apiserver/objects/schema"
)

// Policy says what becomes of the dependents of an object that is deleted (§3 rules 3–5, G21–G25).
type Policy uint8

// The policies.
const (
	Unset      Policy = iota // what the object's finalizers say, else what its kind does
	Background               // they are deleted once it is gone
	Foreground               // they are deleted before it goes
	Orphan                   // they stay, and forget it
)

// The finalizers by which a delete asks the garbage collector for something.
const (
	OrphanFinalizer     = "orphan"
	ForegroundFinalizer = "foregroundDeletion"
)

// notCollected is the default propagation of kinds that the garbage collector does not know.
const notCollected = "None"

// Collected reports whether the garbage collector knows the objects of a kind; otherwise policies
// are ignored (G24).
func Collected(k *schema.Kind) bool { return k.Strategy.DefaultPropagation != notCollected }

// apply puts the finalizers on the object that the policy asks for, and takes those off that it
// does not.
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

// of settles what was left open: by the finalizers that are there, or the kind's default (§3 rule
// 3).
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

// HasFinalizer reports whether a finalizer is in the object's metadata.
func HasFinalizer(o *schema.Object, name string) bool {
	for _, f := range o.Finalizers().Items() {
		if f.Str() == name {
			return true
		}
	}
	return false
}

// Released decides what follows when the garbage collector has done what a finalizer asked for: the
// finalizer goes, and with the last one the object.
func Released(o *schema.Object, finalizer string) Decision {
	o = o.Copy()
	before := o.Finalizers().Len()
	dropFinalizers(o.Finalizers(), finalizer)
	return afterRelease(o, o.Finalizers().Len() != before)
}

// afterRelease is what becomes of an object that has lost a finalizer, or none.
func afterRelease(o *schema.Object, changed bool) Decision {
	switch {
	case Complete(o):
		return Decision{Action: Remove, Object: o}
	case changed:
		return Decision{Action: Mark, Object: o}
	}
	return Decision{Action: Nothing, Object: o}
}

// dropFinalizers removes the named ones from a list of finalizers.
func dropFinalizers(list *schema.Value, names ...string) {
	for i := list.Len() - 1; i >= 0; i-- {
		if slices.Contains(names, list.At(i).Str()) {
			list.RemoveAt(i)
		}
	}
}
