package fsm

import (
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// Replay returns the event of the log entry at index, nil if the entry changed nothing in the
// collection. failed must come from a state that has applied the entry. at must return the entry at
// a lower index, nil if that entry can't be read. Replay does not retain data. It returns a
// *history.Compacted for an index at or below the floor of failed, and an *Unknown for an entry
// that this build can't apply.
//
// The event equals the live one, except that Created is 0 in the objects of updates and deletes,
// because entries don't have it. The entry of a delete may lack the removed object although its
// labels or fields differ: if an older build wrote it, or if it would have been too large. Replay
// then reads that object from the entry that wrote it, and sets PreviousUnknown if that entry can't
// be read.
func Replay(
	data []byte, index uint64, failed *state.Failed, p state.Prefix, at func(index uint64) ([]byte, error),
) (*history.Event, error) {
	if floor := failed.Floor(); index <= floor {
		return nil, &history.Compacted{Want: index - 1, Oldest: floor}
	}
	e, err := Decode(data)
	if err != nil {
		return nil, e.unknown(index, err)
	}
	if e.concernsNoObject() || !e.key.in(p) || failed.Contains(index) {
		return nil, nil
	}
	of := e.key.with(e.object.uid, e.object.fields)
	event := &history.Event{Index: index, Object: e.object.replayed(of, index)}
	switch e.op {
	case OpCreate:
		event.Type = history.Added
		event.Object.Created = index
	case OpUpdate:
		event.Type = history.Modified
		if e.previous.given {
			event.Previous = e.previous.replayed(e.previous.lastingOf(of.key), e.previousVersion)
		}
	case OpDelete:
		event.Type = history.Deleted
		switch {
		case e.previous.given:
			event.Previous = e.previous.replayed(e.previous.lastingOf(of.key), e.previousVersion)
		case !e.attributesKept:
			return event, e.readPrevious(event, at)
		}
	}
	return event, nil
}

// readPrevious sets the removed object of a delete whose entry does not include it.
func (e *Entry) readPrevious(event *history.Event, at func(index uint64) ([]byte, error)) error {
	data, err := at(e.previousVersion)
	if err != nil {
		return err
	}
	k := event.Object.Key
	wrote, err := Decode(data) // fails if the log no longer has the entry
	if err != nil || wrote.concernsNoObject() || wrote.key.key() != k {
		event.PreviousUnknown = true
		return nil
	}
	event.Previous = previous(wrote.object.replayed(wrote.object.lastingOf(k), e.previousVersion), event.Object)
	return nil
}

// lastingOf returns the strings of the content of an object with a key.
func (c *content) lastingOf(k state.Key) lasting {
	return lasting{k, string(c.uid), state.Attributes(c.fields)}
}

func (c *content) replayed(of lasting, version uint64) *state.Object {
	o := c.object(of.key, of.uid, 0, version)
	o.Labels, o.Fields = state.Attributes(c.labels), of.fields
	return o
}
