package history

import (
	"sync/atomic"

	"quorate/raftstore/state"
)

// Type is the kind of change of an event.
type Type uint8

// The types of events.
const (
	Added Type = iota + 1
	Modified
	Deleted
)

// Event is one change, made by one log entry. It is shared by all watchers and never changes.
type Event struct {
	Index uint64 // of the log entry: the position of this event
	Type  Type
	// PreviousUnknown reports that Previous of a Deleted is missing because the log no longer has
	// it: see fsm.Replay.
	PreviousUnknown bool
	// Object is the object stored since Index. For Deleted it is the final object, with Index as
	// its version.
	Object *state.Object
	// Previous is the replaced or removed object. It is set only if labels or fields changed, for
	// selectors that match it and not Object.
	Previous *state.Object

	left atomic.Pointer[[]byte]
}

// eventOverhead is the memory of an event beyond its objects: the struct, and its slot in a chunk.
const eventOverhead = 48 + 8

// Left returns the bytes of Previous with Index as their version: the object as it leaves a
// selector that matches Previous and not Object (D19: such an object is DELETED with its last
// matching content). It returns nil if there is no Previous. The first call makes the bytes; later
// calls return the same.
func (e *Event) Left() []byte {
	if e.Previous == nil {
		return nil
	}
	if b := e.left.Load(); b != nil {
		return *b
	}
	b := e.Previous.WithVersion(e.Index)
	if !e.left.CompareAndSwap(nil, &b) {
		b = *e.left.Load()
	}
	return b
}

// Size returns the bytes of memory that the event can keep, for budgets: its objects, which the
// state may share, and the cached result of Left.
func (e *Event) Size() int {
	size := eventOverhead + e.Object.Size()
	if e.Previous != nil {
		size += e.Previous.Size() + len(e.Previous.Value)
	}
	return size
}
