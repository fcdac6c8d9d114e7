package garbage

import "quorate/apiserver/objects/deletion"

// OwnerState is the state of an owner that an object refers to.
type OwnerState uint8

// The states of an owner.
const (
	Alive     OwnerState = iota
	Absent               // it doesn't exist, another object has its name, or it is in another namespace (G43–G45)
	Waiting              // it is being deleted in the foreground, after its dependents (G22)
	Orphaning            // it is being deleted, and its dependents must drop their references (G21)
	Unknown              // its absence can't be proved: its kind is unknown here or can't own this object (G46, G48)
)

// Object is the input of a decision about an object.
type Object struct {
	// Owners are the states of the owners in its references, in order.
	Owners []OwnerState
	// Going reports that it is being deleted. Orphans and Foreground report that it has these
	// finalizers.
	Going, Orphans, Foreground bool
	// Dependents reports that some object refers to it; Blocked, that one does so with
	// blockOwnerDeletion.
	Dependents, Blocked bool
	// Blocks reports that one of its own references has blockOwnerDeletion.
	Blocks bool
	// Cycle reports that its dependents wait, directly or not, for it.
	Cycle bool
}

// Action is the collector's action on an object.
type Action uint8

// The actions.
const (
	Keep    Action = iota
	Forget         // drop references
	Delete         // delete it with Policy
	Release        // drop Finalizer, whose work is done
	Unblock        // clear blockOwnerDeletion in its references
)

// Decision is an action with its parameters.
type Decision struct {
	Action Action
	// Drop lists the references to drop, in ascending order, for Forget.
	Drop []int
	// Policy applies to its own dependents, for Delete.
	Policy deletion.Policy
	// Unblock asks for Unblock along with Delete: an owner would wait for the object, which waits
	// for that owner.
	Unblock bool
	// Finalizer is the finalizer to drop, for Release.
	Finalizer string
}

// Decide returns what the collector has to do to an object now. Changes of owners, references and
// dependents require a new decision.
func Decide(o Object) Decision {
	orphaning := o.owners(Orphaning)
	switch {
	case o.Going && len(orphaning) > 0: // the owner waits until the reference is dropped, even if the object is being deleted too
		return Decision{Action: Forget, Drop: orphaning}
	case o.Going:
		return o.going()
	case len(o.Owners) == 0:
		return Decision{}
	case len(orphaning)+len(o.owners(Alive))+len(o.owners(Unknown)) > 0: // an owner keeps it
		if drop := o.owners(Absent, Waiting, Orphaning); len(drop) > 0 {
			return Decision{Action: Forget, Drop: drop}
		}
		return Decision{}
	case len(o.owners(Waiting)) > 0 && o.Dependents && !o.Orphans:
		return Decision{Action: Delete, Policy: deletion.Foreground, Unblock: o.Cycle && o.Blocks}
	}
	return Decision{Action: Delete, Policy: o.policy()}
}

// going decides about an object that is being deleted.
func (o *Object) going() Decision {
	switch {
	case o.Orphans && !o.Dependents:
		return Decision{Action: Release, Finalizer: deletion.OrphanFinalizer}
	case o.Foreground && !o.Blocked:
		return Decision{Action: Release, Finalizer: deletion.ForegroundFinalizer}
	case o.Foreground && o.Cycle && o.Blocks:
		return Decision{Action: Unblock}
	}
	return Decision{}
}

// policy returns the policy that the object's own finalizers request for its dependents.
func (o *Object) policy() deletion.Policy {
	switch {
	case o.Orphans:
		return deletion.Orphan
	case o.Foreground:
		return deletion.Foreground
	}
	return deletion.Background
}

// owners returns the positions of references whose owner is in one of the states.
func (o *Object) owners(states ...OwnerState) []int {
	var found []int
	for i, have := range o.Owners {
		for _, want := range states {
			if have == want {
				found = append(found, i)
			}
		}
	}
	return found
}
