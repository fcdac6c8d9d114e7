package fsm

import (
	"time"

	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// Result is the outcome of one entry, for who proposed it: the same on every replica.
type Result struct {
	// Object is what is stored now; for a delete the final object, whose version is that of the deletion. Nil for an init and
	// a pin.
	Object *state.Object
	// Pinned is set for a pin, and asks to keep the state as it is now; Time is when that was asked for. Neither is part of
	// the state.
	Pinned bool
	Time   time.Time
	// Err is the precondition that did not hold: *state.Exists, NotFound, Conflict, UIDMismatch or GuardFailed. Nothing was
	// changed then.
	Err error
}

// Apply applies the log entry at index to the tree, whatever its outcome, and returns the event that watchers get, nil when
// there is none. data is not kept. An entry that this build can't apply is an *Unknown, and changes nothing: who gets one must apply
// nothing more. It panics when the entry is not after the tree's index.
func Apply(t *state.Tree, index uint64, data []byte) (Result, *history.Event, error) {
	var e entry
	if err := e.decode(data); err != nil {
		return Result{}, nil, e.unknown(index, err)
	}
	t.Advance(index)
	var o *state.Object
	var event *history.Event
	var err error
	switch e.op {
	case opCreate:
		o, event, err = e.create(t, index)
	case opUpdate:
		o, event, err = e.update(t, index)
	case opDelete:
		o, event, err = e.delete(t, index)
	case opInit:
		t.InitCluster(string(e.clusterID))
	case opPin:
		return Result{Pinned: true, Time: time.Unix(0, e.time)}, nil, nil
	}
	if err != nil {
		t.Fail(index)
		return Result{Err: err}, nil, nil
	}
	return Result{Object: o}, event, nil
}

func (e *entry) create(t *state.Tree, index uint64) (*state.Object, *history.Event, error) {
	if e.guard.given {
		guard := e.guard.key()
		if g := t.Get(guard); g == nil || g.Sealed {
			return nil, nil, &state.GuardFailed{Guard: guard, Sealed: g != nil}
		}
	}
	k, uid := e.key.identity(e.object.uid)
	if t.Get(k) != nil {
		return nil, nil, &state.Exists{Key: k}
	}
	o := e.object.object(k, uid, index, index)
	o.Labels, o.Fields = t.Intern(e.object.labels), state.Attributes(e.object.fields)
	t.Set(o)
	return o, &history.Event{Index: index, Type: history.Added, Object: o}, nil
}

func (e *entry) update(t *state.Tree, index uint64) (*state.Object, *history.Event, error) {
	current, err := e.current(t)
	if err != nil {
		return nil, nil, err
	}
	o := e.replacement(t, current, index)
	t.Set(o)
	return o, &history.Event{Index: index, Type: history.Modified, Object: o, Previous: previous(current, o)}, nil
}

func (e *entry) delete(t *state.Tree, index uint64) (*state.Object, *history.Event, error) {
	current, err := e.current(t)
	if err != nil {
		return nil, nil, err
	}
	o := e.replacement(t, current, index)
	t.Delete(o.Key)
	return o, &history.Event{Index: index, Type: history.Deleted, Object: o, Previous: previous(current, o)}, nil
}

// previous returns the object that o replaces or removes, nil when selectors see no difference.
func previous(current, o *state.Object) *state.Object {
	if sameAttributes(current, o) {
		return nil
	}
	return current
}

func sameAttributes(a, b *state.Object) bool { return a.Labels == b.Labels && a.Fields == b.Fields }

// current returns the object that an update or delete is about, when it is the one that the entry was made for.
func (e *entry) current(t *state.Tree) (*state.Object, error) {
	k := e.key.key()
	o := t.Get(k)
	switch {
	case o == nil:
		return nil, &state.NotFound{Key: k}
	case len(e.uid) > 0 && string(e.uid) != o.UID:
		return nil, &state.UIDMismatch{Key: k, Want: string(e.uid), Have: o.UID}
	case e.previousVersion != o.Version:
		return nil, &state.Conflict{Key: k, Want: e.previousVersion, Have: o.Version}
	}
	return o, nil
}

// replacement makes the entry's object, sharing with the current one what they have in common.
func (e *entry) replacement(t *state.Tree, current *state.Object, index uint64) *state.Object {
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
		o.Fields = state.Attributes(e.object.fields)
	}
	return o
}

// object makes the object of a content, but for labels and fields.
func (c *content) object(k state.Key, uid string, created, version uint64) *state.Object {
	// gofail: var breakReuseVersion struct{}
	// version = max(version, 1) - 1

	return &state.Object{
		Key: k, UID: uid, Created: created, Version: version,
		Value: state.Splice(c.value, c.offset, version), VersionOffset: c.offset, Sealed: c.sealed,
	}
}
