package garbage

import "quorate/apiserver/objects/deletion"

// Standing is how it stands with an owner that an object refers to.
type Standing uint8

// The standings.
const (
	Alive     Standing = iota
	Absent             // it is gone, or another object has its name, or it is in another namespace (G43–G45)
	Waiting            // it is being deleted in the foreground, dependents first (G22)
	Orphaning          // it is being deleted, and its dependents are to forget it (G21)
	Unknown            // its absence can't be proved: its kind is unknown here, or can't own this object (G46, G48)
)

// Object is what the decision about an object depends on.
type Object struct {
	// Owners are its references' standings, in their order.
	Owners []Standing
	// Going: it is being deleted already. Orphans and Foreground: it has these finalizers.
	Going, Orphans, Foreground bool
	// Dependents: some object refers to it. Blocked: some object does with blockOwnerDeletion.
	Dependents, Blocked bool
	// Blocks: one of its own references has blockOwnerDeletion.
	Blocks bool
	// Cycle: waiting for its dependents it would wait for itself.
	Cycle bool
}

// Action is what the collector does to an object.
type Action uint8

// The actions.
const (
	Keep    Action = iota
	Forget         // drop references
	Delete         // delete it, by Policy
	Release        // take Finalizer off it, which has been served
	Unblock        // let no owner wait for it
)

// Decision is what to do to an object.
type Decision struct {
	Action Action
	// Drop are the references to drop, rising, on Forget.
	Drop []int
	// Policy is for its own dependents, on Delete.
	Policy deletion.Policy
	// Unblock is to be done along with Delete: it would be waited for by an owner that it waits for
	// itself.
	Unblock bool
	// Finalizer is what to take off, on Release.
	Finalizer string
}

// Decide says what is to be done to an object now. It is asked again when an owner, a reference or
// a dependent changes.
func Decide(o Object) Decision {
	orphaning := o.owners(Orphaning)
	switch {
	case o.Going && len(orphaning) > 0: // the owner waits for it to forget, whatever else becomes of it
		return Decision{Action: Forget, Drop: orphaning}
	case o.Going:
		return o.going()
	case len(o.Owners) == 0:
		return Decision{}
	case len(orphaning)+len(o.owners(Alive))+len(o.owners(Unknown)) > 0: // somebody keeps it
		if drop := o.owners(Absent, Waiting, Orphaning); len(drop) > 0 {
			return Decision{Action: Forget, Drop: drop}
		}
		return Decision{}
	case len(o.owners(Waiting)) > 0 && o.Dependents && !o.Orphans:
		return Decision{Action: Delete, Policy: deletion.Foreground, Unblock: o.Cycle && o.Blocks}
	}
	return Decision{Action: Delete, Policy: o.policy()}
}

// going is about an object that is being deleted.
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

// policy is what the object's own finalizers ask for its dependents; nobody else has a say.
func (o *Object) policy() deletion.Policy {
	switch {
	case o.Orphans:
		return deletion.Orphan
	case o.Foreground:
		return deletion.Foreground
	}
	return deletion.Background
}

// owners returns the places of references with one of the standings.
func (o *Object) owners(standings ...Standing) []int {
	var found []int
	for i, have := range o.Owners {
		for _, standing := range standings {
			if have == standing {
				found = append(found, i)
			}
		}
	}
	return found
}
