package write

import "quorate/raftstore/state"

// Create stores an object under a key that must be free.
type Create struct {
	Key state.Key
	// Object holds Value without the digits of its version, which belong at VersionOffset, and UID,
	// Labels, Fields and Sealed. Create does not read its Key and versions.
	Object *state.Object
	// Guard, when set, must exist and not be sealed (the namespace; semantics A33).
	Guard state.Key
}

// Update replaces an object.
type Update struct {
	Key state.Key
	// Object is as in Create.
	Object *state.Object
	// Previous is the stored object that the new one was derived from. Its version is the
	// precondition.
	Previous *state.Object
	// UID, when set, must be the stored one.
	UID string
	// Frees says that the update is part of a deletion, which the leader accepts while there is
	// little space left.
	Frees bool
	// Client distinguishes the clients that write to the same object, as a hash of their
	// connections does: after a conflict, a client that retries is served before others. 0 if it is
	// not known.
	Client uint64
}

// Delete removes an object.
type Delete struct {
	Key state.Key
	// Previous is the stored object that Delete removes. Its version is the precondition.
	Previous *state.Object
	// UID, when set, must be the stored one.
	UID string
	// Final is the last state that watchers get, as in Create, with the version of the deletion;
	// nil means Previous as it is (semantics D20).
	Final *state.Object
}

// MaxEntryBytes bounds one encoded log entry, and so one object (with its predecessor, where
// selectors see a change).
const MaxEntryBytes = 4 << 20
