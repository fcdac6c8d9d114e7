package state

// Precondition is what a write requires of the state that it is applied to. The leader's check
// before a write is proposed and the state machine decide by the same Check.
type Precondition struct {
	Key     Key
	Creates bool   // nothing is stored under Key; otherwise an object is, with this Version and UID
	Guard   Key    // unless empty, of a create: it is stored, and not sealed
	Version uint64 // of an update or delete
	UID     string // unless empty, of an update or delete
}

// Objects looks up stored objects. *Tree and *Root do.
type Objects interface {
	// Get returns the object stored under a key, nil if there is none.
	Get(k Key) *Object
}

// Check returns the object that the write replaces or removes, nil for a create; or, if the
// precondition does not hold, the refusal: *Exists, *NotFound, *Conflict, *UIDMismatch or
// *GuardFailed. It depends on nothing but p and the objects looked up. The refusal of an update or
// delete by a state that has reached p.Version is final: a replaced version never returns.
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
