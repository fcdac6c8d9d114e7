package fsm

import (
	"time"

	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// Result is the outcome of one entry. It is the same on every node.
type Result struct {
	// Object is the object stored by the entry. For a delete it is the final object, with the
	// version of the deletion. It is nil for an init and a pin.
	Object *state.Object
	// Pinned is set for a pin, which requests that the present state be retained; Time is when it
	// was requested. Neither is part of the state.
	Pinned bool
	Time   time.Time
	// Err is the precondition that did not hold: *state.Exists, NotFound, Conflict, UIDMismatch or
	// GuardFailed. Such an entry changes nothing.
	Err error
}

// Apply applies the log entry at index to the tree. It returns the entry's result, and its event
// for watchers, nil if there is none. It does not retain data. For an entry that this build can't
// apply, it changes nothing and returns an *Unknown; the caller must apply no later entry. It
// panics if index is not above the tree's.
func Apply(t *state.Tree, index uint64, data []byte) (Result, *history.Event, error) {
	e, err := Decode(data)
	if err != nil {
		return Result{}, nil, e.unknown(index, err)
	}
	t.Advance(index)
	switch e.op {
	case OpInit:
		t.InitCluster(string(e.clusterID))
		return Result{}, nil, nil
	case OpPin:
		return Result{Pinned: true, Time: time.Unix(0, e.time)}, nil, nil
	}
	p, created := e.precondition()
	current, err := p.Check(t)
	if err != nil {
		t.Fail(index)
		return Result{Err: err}, nil, nil
	}
	event := &history.Event{Index: index}
	switch e.op {
	case OpCreate:
		event.Type, event.Object = history.Added, e.created(t, created, index)
		t.Set(event.Object)
	case OpUpdate:
		event.Type, event.Object = history.Modified, e.replacement(t, current, index)
		event.Previous = previous(current, event.Object)
		t.Set(event.Object)
	case OpDelete:
		event.Type, event.Object = history.Deleted, e.replacement(t, current, index)
		event.Previous = previous(current, event.Object)
		t.Delete(event.Object.Key)
	}
	return Result{Object: event.Object}, event, nil
}

// created builds the object of a create.
func (e *Entry) created(t *state.Tree, of lasting, index uint64) *state.Object {
	o := e.object.object(of.key, of.uid, index, index)
	o.Labels, o.Fields = t.Intern(e.object.labels), of.fields
	return o
}

// previous returns the object that o replaces or removes, nil if labels and fields are unchanged.
func previous(current, o *state.Object) *state.Object {
	if sameAttributes(current, o) {
		return nil
	}
	return current
}

func sameAttributes(a, b *state.Object) bool { return a.Labels == b.Labels && a.Fields == b.Fields }

// replacement returns the object that the entry stores. It shares equal strings with the current
// object, unless that would keep others in memory.
func (e *Entry) replacement(t *state.Tree, current *state.Object, index uint64) *state.Object {
	uid := current.UID
	if string(e.object.uid) != uid {
		uid = string(e.object.uid)
	}
	o := e.object.object(current.Key, uid, current.Created, index)
	o.Labels, o.Fields = current.Labels, current.Fields
	if string(e.object.labels) != string(o.Labels) {
		o.Labels = t.Intern(e.object.labels)
	}
	if string(e.object.fields) != string(o.Fields) {
		// The memory of the present key has the former fields, too.
		of := e.key.with(e.object.uid, e.object.fields)
		o.Key, o.UID, o.Fields = of.key, of.uid, of.fields
	}
	return o
}

// object returns the object of a content, without labels and fields.
func (c *content) object(k state.Key, uid string, created, version uint64) *state.Object {
	// gofail: var breakReuseVersion struct{}
	// version = max(version, 1) - 1

	return &state.Object{
		Key: k, UID: uid, Created: created, Version: version,
		Value: state.Splice(c.value, c.offset, version), VersionOffset: c.offset, Sealed: c.sealed,
	}
}
