package watchmodel

import (
	"cmp"
	"slices"
)

// entry is one change of the log.
type entry struct {
	kind   string  // the type of its event, unselected
	object *Object // after the change; of a deletion the final object
	before *Object // nil when there was none
}

func (e *entry) version() uint64 { return e.object.Version }

// Log is the sequence of all changes of one resource, as the references report it.
type Log struct {
	base    uint64
	present []Object // at base
	entries []entry  // by version
	reached uint64   // no change up to this version is missing
	end     uint64   // the version of the last write
}

// NewLog builds the log of a resource from the events of its references.
func NewLog(r *Resource) *Log {
	l := &Log{base: r.Base, present: r.Present, end: r.End, reached: covered(r)}
	state := map[string]*Object{}
	for i := range l.present {
		state[l.present[i].key()] = &l.present[i]
	}
	for _, e := range union(r) {
		object := e.Object.Value()
		key := object.key()
		l.entries = append(l.entries, entry{kind: e.Type, object: &object, before: state[key]})
		if e.Type == Deleted {
			delete(state, key)
		} else {
			state[key] = &object
		}
	}
	return l
}

// covered returns the version up to which at least one reference was always watching.
func covered(r *Resource) uint64 {
	spans := slices.SortedFunc(slices.Values(r.References), func(a, b Reference) int { return cmp.Compare(a.After, b.After) })
	reached := r.Base
	for _, s := range spans {
		if s.After <= reached {
			reached = max(reached, s.Reached)
		}
	}
	return reached
}

// told is an event and the number of references that delivered it.
type told struct {
	Event
	count int
}

// union returns one event for each version, by version: the one that most references delivered.
func union(r *Resource) []Event {
	versions := map[uint64][]told{}
	for i := range r.References {
		for _, e := range r.References[i].Events {
			if e.version() > r.Base {
				versions[e.version()] = count(versions[e.version()], e)
			}
		}
	}
	events := make([]Event, 0, len(versions))
	for _, all := range versions {
		events = append(events, slices.MaxFunc(all, func(a, b told) int { return cmp.Compare(a.count, b.count) }).Event)
	}
	slices.SortFunc(events, func(a, b Event) int { return cmp.Compare(a.version(), b.version()) })
	return events
}

func count(all []told, e Event) []told {
	for i := range all {
		if all[i].Type == e.Type && all[i].Object == e.Object {
			all[i].count++
			return all
		}
	}
	return append(all, told{e, 1})
}

// after returns the entries after a version.
func (l *Log) after(version uint64) []entry {
	n, _ := slices.BinarySearchFunc(l.entries, version, func(e entry, v uint64) int {
		if e.version() <= v {
			return -1
		}
		return 1
	})
	return l.entries[n:]
}

// at returns the entry of a version, nil if there is none.
func (l *Log) at(version uint64) *entry {
	n, found := slices.BinarySearchFunc(l.entries, version, func(e entry, v uint64) int { return cmp.Compare(e.version(), v) })
	if !found {
		return nil
	}
	return &l.entries[n]
}

// state returns the objects of a version, by namespace and name.
func (l *Log) state(version uint64) []Object {
	objects := map[string]Object{}
	for i := range l.present {
		objects[l.present[i].key()] = l.present[i]
	}
	for i := range l.entries {
		e := &l.entries[i]
		switch {
		case e.version() > version:
			return sorted(objects)
		case e.kind == Deleted:
			delete(objects, e.object.key())
		default:
			objects[e.object.key()] = *e.object
		}
	}
	return sorted(objects)
}

func sorted(objects map[string]Object) []Object {
	list := make([]Object, 0, len(objects))
	for _, o := range objects {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// expected is an event that a watch must deliver.
type expected struct {
	kind   string
	object Object
}

// expect returns the event that a watch of the selection must deliver for the entry, if any. It
// evaluates the selection on the object before and after the change. An object that begins to match
// is added. An object that ceases to match is deleted; that event has the content that last
// matched, with the version of the change. The deletion of an object that still matches has its
// final content.
func (s *Selection) expect(e *entry) (x expected, any bool) {
	was := e.before != nil && s.Matches(e.before)
	matches := s.Matches(e.object)
	is := matches && e.kind != Deleted
	switch {
	case is && was:
		return expected{Modified, *e.object}, true
	case is:
		return expected{Added, *e.object}, true
	case was && matches: // the final object still matches
		return expected{Deleted, *e.object}, true
	case was:
		left := *e.before
		left.Version = e.version()
		return expected{Deleted, left}, true
	}
	return expected{}, false
}

// Last returns the version of the last event that a watch of the selection must deliver after a
// version, up to the last write; 0 if there is none.
func (l *Log) Last(s *Selection, after uint64) uint64 {
	entries := l.after(after)
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].version() > min(l.end, l.reached) {
			continue
		}
		if _, any := s.expect(&entries[i]); any {
			return entries[i].version()
		}
	}
	return 0
}
