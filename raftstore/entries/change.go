package entries

import (
	"errors"

	"github.com/hashicorp/raft"

	"quorate/raftstore/fsm"
	"quorate/raftstore/history"
	"quorate/raftstore/log"
	"quorate/raftstore/state"
)

// Change is an entry with the objects before and after it.
type Change struct {
	Entry
	// Before and After are the JSON of the object as it was stored. Before is nil for a create, and
	// After for a delete. Both are nil unless the entry has been applied and changed an object.
	Before, After []byte
	// BeforeUnknown reports that the log no longer has the object that an update replaced.
	BeforeUnknown bool
}

// Change returns the entry at an index and the change that it made. It returns *log.Truncated if
// the log no longer has the entry, and ErrNoEntry if the log ends before it.
func (r *Reader) Change(index uint64) (*Change, error) {
	first, last, err := r.span()
	switch {
	case err != nil:
		return nil, err
	case index > last:
		return nil, ErrNoEntry
	case index < first || index == 0:
		return nil, &log.Truncated{After: index - min(index, 1), First: first}
	}
	v := r.view()
	entry, data, err := r.read(index, v)
	if errors.Is(err, raft.ErrLogNotFound) {
		return nil, &log.Truncated{After: index - 1, First: first}
	}
	if err != nil {
		return nil, err
	}
	c := &Change{Entry: entry}
	if entry.Key == "" || entry.Stage != Applied {
		return c, nil
	}
	event, err := r.event(data, index, v.root)
	if err != nil || event == nil {
		return c, err
	}
	return c, r.addObjects(c, event, data, v.root)
}

// addObjects sets the objects of a change.
func (r *Reader) addObjects(c *Change, event *history.Event, data []byte, root *state.Root) error {
	if event.Type != history.Deleted {
		c.After = event.Object.Value
	}
	if event.Type == history.Added {
		return nil
	}
	before, err := r.stored(data, root)
	switch {
	case err != nil:
		return err
	case before != nil:
		c.Before = before.Value
	case event.Previous != nil:
		c.Before = event.Previous.Value
	case event.Type == history.Deleted:
		c.Before = event.Object.Value // with the index of the deletion as its version
	default:
		c.BeforeUnknown = true
	}
	return nil
}

// stored returns the object that the entry replaced or removed, from the entry that stored it; nil
// if the log no longer has that one. The version of an object is the index of that entry.
func (r *Reader) stored(data []byte, root *state.Root) (*state.Object, error) {
	entry, err := fsm.Decode(data)
	if err != nil {
		return nil, err
	}
	p := entry.Precondition()
	wrote, err := r.command(p.Version)
	if err != nil || wrote == nil {
		return nil, err
	}
	event, err := r.event(wrote, p.Version, root)
	if err != nil || event == nil || event.Type == history.Deleted || event.Object.Key != p.Key {
		return nil, err
	}
	return event.Object, nil
}

// command returns the data of a command, nil if the log does not have one at the index.
func (r *Reader) command(index uint64) ([]byte, error) {
	_, data, err := r.read(index, r.view())
	if errors.Is(err, raft.ErrLogNotFound) {
		return nil, nil
	}
	return data, err
}

// event returns the event of an entry, nil if it has none, or none that can be known.
func (r *Reader) event(data []byte, index uint64, root *state.Root) (*history.Event, error) {
	event, err := fsm.Replay(data, index, root.Failed(), "", r.command)
	_, compacted := errors.AsType[*history.Compacted](err)
	_, unknown := errors.AsType[*fsm.Unknown](err)
	if compacted || unknown {
		return nil, nil
	}
	return event, err
}
