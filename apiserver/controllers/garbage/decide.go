package garbage

import "quorate/apiserver/objects/deletion"

// OwnerState is the state of an owner that an object refers to.
type OwnerState uint8

// The states of an owner.
const (
	Alive     OwnerState = iota
	Absent               // does not exist, has another uid, or is in another namespace (G43–G45)
	Waiting              // is being deleted in the foreground and waits for its dependents (G22)
	Orphaning            // is being deleted and waits until its dependents drop their references (G21)
	Unknown              // cannot be proved absent, because its kind is unknown here or cannot own this object (G46, G48)
)

// Object is the input of a decision about an object.
type Object struct {
	// Owners are the states of the owners in the object's references, in order.
	Owners []OwnerState
	// Going reports that the object is being deleted. Orphans and Foreground report that it has the
	// finalizers of these policies.
	Going, Orphans, Foreground bool
	// Dependents reports that other objects refer to it; Blocked, that one of them does so with
	// blockOwnerDeletion.
	Dependents, Blocked bool
	// Blocks reports that one of its references has blockOwnerDeletion.
	Blocks bool
	// Cycle reports that its dependents wait for it, directly or indirectly.
	Cycle bool
}

// Action is the collector's action on an object.
type Action uint8

// The actions.
const (
	Keep    Action = iota
	Forget         // remove the references in Drop
	Delete         // delete the object with Policy
	Release        // remove Finalizer, because what it requests is done
	Unblock        // clear blockOwnerDeletion in the object's references
)

// Decision is an action with its parameters.
type Decision struct {
	Action Action
	// Drop lists the positions of the references to remove, in ascending order, for Forget.
	Drop []int
	// Policy is the policy for the object's dependents, for Delete.
	Policy deletion.Policy
	// Unblock requests the action Unblock in addition to Delete, because an owner and the object
	// would otherwise wait for each other.
	Unblock bool
	// Finalizer is the finalizer to remove, for Release.
	Finalizer string
}

// Decide returns the action that an object requires now. When an owner, a reference or a dependent
// changes, a new decision is required.
func Decide(o Object) Decision {
	orphaning := o.owners(Orphaning)
	switch {
	case o.Going && len(orphaning) > 0: // the owner waits for the reference to be dropped, even if this object is being deleted
		return Decision{Action: Forget, Drop: orphaning}
	case o.Going:
		return o.going()
	case len(o.Owners) == 0:
		return Decision{}
	case len(orphaning)+len(o.owners(Alive))+len(o.owners(Unknown)) > 0: // some owner keeps it
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
