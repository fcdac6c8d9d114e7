package history

import (
	"sync/atomic"

	"quorate/raftstore/state"
)

// Type says what an event did to its object.
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
	// PreviousUnknown says of Deleted that Previous is missing because the log no longer tells what it was: see fsm.Replay.
	PreviousUnknown bool
	// Object is what is stored from Index on. For Deleted it is the final object, with Index as its version.
	Object *state.Object
	// Previous is the object that was replaced or removed. It is set only when labels or fields changed, for selectors that it
	// matched and Object does not.
	Previous *state.Object

	left atomic.Pointer[[]byte]
}

// eventOverhead is what an event takes beside its objects: the struct, and its slot in a chunk.
const eventOverhead = 48 + 8

// Left returns the bytes of Previous with Index as their version: the object as it left a selector (semantics D19). They are
// made once, when first asked for. It returns nil when there is no Previous.
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

// Size returns the bytes of memory that the event can hold on to, for budgets: its objects, though the state may share
// them, and what Left caches.
func (e *Event) Size() int {
	size := eventOverhead + e.Object.Size()
	if e.Previous != nil {
		size += e.Previous.Size() + len(e.Previous.Value)
	}
	return size
}
