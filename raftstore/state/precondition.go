package state

// Precondition states what a write requires of the state to which it is applied. Both the leader,
// before it proposes a write, and the state machine evaluate it with Check.
type Precondition struct {
	Key     Key
	Creates bool   // Key must be unused; otherwise it must have an object with this Version and UID
	Guard   Key    // of a create, unless empty: must exist and not be sealed
	Version uint64 // of an update or delete
	UID     string // of an update or delete, unless empty
}

// Objects looks up stored objects. *Tree and *Root implement it.
type Objects interface {
	// Get returns the object stored under a key, nil if there is none.
	Get(k Key) *Object
}

// Check returns the object that the write replaces or removes, nil for a create. If the
// precondition does not hold, it returns a refusal: *Exists, *NotFound, *Conflict, *UIDMismatch or
// *GuardFailed. The result depends on nothing but p and the objects looked up. If the state has
// reached p.Version, the refusal of an update or delete is final, because a replaced version never
// returns.
func (p *Precondition) Check(objects Objects) (*Object, error) {
	if p.Creates {
		return nil, p.checkCreate(objects)
	}
	have := objects.Get(p.Key)
	switch {
	case have == nil:
		return nil, &NotFound{Key: p.Key}
	case p.UID != "" && have.UID != p.UID:
		return nil, &UIDMismatch{Key: p.Key, Want: p.UID, Have: have.UID}
	case have.Version != p.Version:
		return nil, &Conflict{Key: p.Key, Want: p.Version, Have: have.Version}
	}
	return have, nil
}

func (p *Precondition) checkCreate(objects Objects) error {
	if p.Guard != "" {
		guard := objects.Get(p.Guard)
		if guard == nil || guard.Sealed {
			return &GuardFailed{Guard: p.Guard, Sealed: guard != nil}
		}
	}
	if objects.Get(p.Key) != nil {
		return &Exists{Key: p.Key}
	}
	return nil
}
