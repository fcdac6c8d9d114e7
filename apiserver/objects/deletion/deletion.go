package deletion

import (
	"math"
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
)

// Action is the effect of a delete.
type Action uint8

// The actions.
const (
	Nothing Action = iota // the object is already being deleted
	Mark                  // store the decision's object; it is removed later
	Remove                // remove the object from the store
	Refuse                // the namespace is permanent (G41)
)

// PlatformFinalizer stays in a namespace's spec until all of its content is deleted.
const PlatformFinalizer = "platform"

// terminatingPhase is the phase of a namespace that is being deleted (G37).
const terminatingPhase = "Terminating"

// Options are the options of a delete request that affect the decision.
type Options struct {
	// Grace is the requested grace period in seconds; nil for the kind's default.
	Grace *int64
	// Policy says how to treat the dependents.
	Policy Policy
}

// Decision is an action and the object to perform it with.
type Decision struct {
	Action Action
	// Object is the changed object: the version to store for Mark, the last version for Remove.
	Object *schema.Object
}

// Decide returns the effect of deleting the stored object o at time now. It works on a copy of o.
func Decide(o *schema.Object, opts Options, now time.Time) Decision {
	o = o.Copy()
	_, terminating := o.DeletionTimestamp()
	if !terminating { // a deletion in progress keeps its policy (G28)
		opts.Policy.apply(o)
		if name := o.Kind.Strategy.CleanupFinalizer; name != "" && !HasFinalizer(o, name) {
			o.MakeFinalizers().Append().SetStr(name)
		}
	}
	if isNamespace(o) {
		return decideNamespace(o, now)
	}
	grace := gracePeriod(o, opts.Grace)
	if terminating {
		return shorten(o, grace, opts.Grace != nil, now)
	}
	if grace == 0 && o.Finalizers().Len() == 0 {
		return Decision{Action: Remove, Object: o}
	}
	mark(o, grace, now)
	return Decision{Action: Mark, Object: o}
}

func mark(o *schema.Object, grace int64, now time.Time) {
	o.SetDeletion(after(now, grace), grace)
	if o.Kind.Strategy.Generation {
		o.SetGeneration(o.Generation() + 1)
	}
}

// longest is the longest grace period, in seconds, that fits a time.Duration: 292 years. Longer
// grace periods are shortened to it.
const longest = int64(math.MaxInt64 / time.Second)

// after returns the end of a grace period that begins now.
func after(now time.Time, grace int64) time.Time {
	return now.Add(time.Duration(min(grace, longest)) * time.Second)
}

// shorten decides about an object that is already being deleted. A shorter grace period brings its
// end forward; any other request changes nothing (G14, G15, G20).
func shorten(o *schema.Object, grace int64, asked bool, now time.Time) Decision {
	if Complete(o) {
		return Decision{Action: Remove, Object: o}
	}
	left, _ := o.DeletionGracePeriodSeconds()
	if !asked || grace >= left {
		return Decision{Action: Nothing, Object: o}
	}
	end, _ := o.DeletionTimestamp()
	// A later request never postpones the end.
	if sooner := after(now, grace); sooner.Before(end) {
		end = sooner
	}
	o.SetDeletion(end, grace)
	if Complete(o) {
		return Decision{Action: Remove, Object: o}
	}
	return Decision{Action: Mark, Object: o}
}

// gracePeriod returns the requested grace period or the kind's default; 0 for kinds without grace
// periods (G10, G11, G16).
func gracePeriod(o *schema.Object, asked *int64) int64 {
	if o.Kind.Strategy.DefaultGracePeriod == 0 {
		return 0
	}
	if o.Root().Lookup("spec", "nodeName").Str() == "" {
		return 0
	}
	switch o.Root().Lookup("status", "phase").Str() {
	case "Succeeded", "Failed":
		return 0
	}
	if asked != nil {
		return *asked
	}
	if own := o.Root().Lookup("spec", "terminationGracePeriodSeconds"); own.IsSet() {
		return max(own.Int(), 0)
	}
	return o.Kind.Strategy.DefaultGracePeriod
}

// Complete reports whether an object is being deleted and has neither a grace period nor finalizers
// left (E16).
func Complete(o *schema.Object) bool {
	if _, terminating := o.DeletionTimestamp(); !terminating {
		return false
	}
	if grace, _ := o.DeletionGracePeriodSeconds(); grace > 0 && !isNamespace(o) {
		return false
	}
	return o.Finalizers().Len() == 0 && (!isNamespace(o) || namespaceFinalizers(o).Len() == 0)
}

func isNamespace(o *schema.Object) bool { return o.Kind.Resource == stored.Namespaces }
