package write

import "quorate/raftstore/state"

// Create stores an object under a key that must be unused.
type Create struct {
	Key state.Key
	// Object has UID, Labels, Fields, Sealed, and Value without the digits of its version, which
	// belong at VersionOffset. Create ignores its Key and versions.
	Object *state.Object
	// Guard, unless empty, is the key of an object that must exist and not be sealed: the namespace
	// (A33: this check is atomic with the write).
	Guard state.Key
	// Frees reports that the create is part of a removal, which the leader accepts even if little
	// space is left, and beyond any quota.
	Frees bool
}

// Update replaces an object.
type Update struct {
	Key state.Key
	// Object is as in Create.
	Object *state.Object
	// Previous is the stored object from which the new one was derived. The write requires its
	// version.
	Previous *state.Object
	// UID, unless empty, must be the uid of the stored object.
	UID string
	// Frees reports that the update is part of a removal, which the leader accepts even if little
	// space is left, and beyond any quota.
	Frees bool
	// Client identifies the client among those that write to the same object, for instance by a
	// hash of its connection; 0 if unknown. A client whose conflict is released is served before
	// others if it retries soon.
	Client uint64
}

// Delete removes an object.
type Delete struct {
	Key state.Key
	// Previous is the stored object that Delete removes. The write requires its version.
	Previous *state.Object
	// UID, unless empty, must be the uid of the stored object.
	UID string
	// Final is the last state of the object for watchers, in the form of Create.Object. It gets the
	// version of the deletion (D20). nil means Previous.
	Final *state.Object
}

// MaxEntryBytes bounds one encoded log entry, and so one object. An entry whose change affects
// selectors has the previous object as well.
const MaxEntryBytes = 4 << 20
