package state

import "fmt"

// A refusal reports that a precondition does not hold. A refused write changes nothing.

// Exists reports a create whose key is in use.
type Exists struct{ Key Key }

func (e *Exists) Error() string { return fmt.Sprintf("%q exists", string(e.Key)) }

// NotFound reports a key without a stored object.
type NotFound struct{ Key Key }

func (e *NotFound) Error() string { return fmt.Sprintf("%q not found", string(e.Key)) }

// Conflict reports an update or delete of a version other than the stored one.
type Conflict struct {
	Key        Key
	Want, Have uint64 // versions
}

func (e *Conflict) Error() string {
	return fmt.Sprintf("%q is at version %d, not %d", string(e.Key), e.Have, e.Want)
}

// UIDMismatch reports an update or delete of an earlier object with the same name.
type UIDMismatch struct {
	Key        Key
	Want, Have string
}

func (e *UIDMismatch) Error() string {
	return fmt.Sprintf("%q has uid %s, not %s", string(e.Key), e.Have, e.Want)
}

// GuardFailed reports a create whose guard is missing or sealed.
type GuardFailed struct {
	Guard  Key
	Sealed bool
}

func (e *GuardFailed) Error() string {
	if e.Sealed {
		return fmt.Sprintf("guard %q is sealed", string(e.Guard))
	}
	return fmt.Sprintf("guard %q not found", string(e.Guard))
}
