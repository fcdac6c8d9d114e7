package deletion

import (
	"math"
	"time"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
)

// Action is what a delete comes to.
type Action uint8

// The actions.
const (
	Nothing Action = iota // it is going already
	Mark                  // store the object of the decision; the rest happens later
	Remove                // take it out of the store
	Refuse                // it is one of the namespaces that stay (G41)
)

// PlatformFinalizer stands in a namespace's spec until all of its content is gone.
const PlatformFinalizer = "platform"

// terminatingPhase is the phase of a namespace that is going (G37).
const terminatingPhase = "Terminating"

// Options are those of a delete that bear on the decision.
type Options struct {
	// Grace is the grace period asked for in seconds; nil for the kind's own.
	Grace *int64
	// Policy says what becomes of the dependents.
	Policy Policy
}

// Decision is what to do, and the object to do it with.
type Decision struct {
	Action Action
	// Object is the changed object: to store on Mark, the last state on Remove.
	Object *schema.Object
}

// Decide says what deleting the stored object o means at the time now. It works on a copy.
func Decide(o *schema.Object, opts Options, now time.Time) Decision {
	o = o.Copy()
	_, terminating := o.DeletionTimestamp()
	if !terminating { // what goes already goes the way it was told first (G28)
		opts.Policy.apply(o)
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

// longest is the longest grace period, in seconds, that ends at a time of its own: longer ones end
// when it does, in 292 years.
const longest = int64(math.MaxInt64 / time.Second)

// after is the end of a grace period that begins now.
func after(now time.Time, grace int64) time.Time {
	return now.Add(time.Duration(min(grace, longest)) * time.Second)
}

// shorten decides about an object that is going already: a shorter grace period brings its end
// nearer, nothing else does anything (G14, G15, G20).
func shorten(o *schema.Object, grace int64, asked bool, now time.Time) Decision {
	if Complete(o) {
		return Decision{Action: Remove, Object: o}
	}
	left, _ := o.DeletionGracePeriodSeconds()
	if !asked || grace >= left {
		return Decision{Action: Nothing, Object: o}
	}
	end, _ := o.DeletionTimestamp()
	// Never later than before.
	if sooner := after(now, grace); sooner.Before(end) {
		end = sooner
	}
	o.SetDeletion(end, grace)
	if Complete(o) {
		return Decision{Action: Remove, Object: o}
	}
	return Decision{Action: Mark, Object: o}
}

// gracePeriod is what was asked for, or the kind's own; only kinds that have one know grace periods
// at all (G10, G11, G16).
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

// Complete reports whether a stored or changed object is going and nothing holds it any longer
// (E16).
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
