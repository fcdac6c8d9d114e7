package watchmodel

import (
	"fmt"
	"slices"
	"strings"
)

// log builds the log of a resource and checks what it is made of.
func (j *judge) log(name string, r *Resource) *Log {
	l := NewLog(r)
	j.Changes += len(l.entries)
	j.references(name, r, l)
	j.replay(name, l)
	j.writes(name, r, l)
	return l
}

// references checks that each reference tells all of the log between its positions, in order.
func (j *judge) references(name string, r *Resource, l *Log) {
	for i := range r.References {
		ref := &r.References[i]
		j.References += len(ref.Nodes)
		told := map[uint64]bool{}
		last := ref.After
		for k := range ref.Events {
			e := &ref.Events[k]
			o := e.Object.Value()
			if o.Version <= last {
				j.add(Agreement, "%s, reference %d: %s %s after version %d", name, ref.Watcher, e.Type, &o, last)
			}
			last = max(last, o.Version)
			told[o.Version] = true
			if is := l.at(o.Version); is != nil && (is.kind != e.Type || *is.object != o) {
				j.add(Agreement, "%s, reference %d: %s %s; others got %s %s", name, ref.Watcher, e.Type, &o, is.kind, is.object)
			}
		}
		for _, e := range l.after(ref.After) {
			if e.version() <= ref.Reached && !told[e.version()] {
				j.add(Agreement, "%s, reference %d, on %s, misses %s %s", name, ref.Watcher, strings.Join(ref.Nodes, " "), e.kind, e.object)
			}
		}
		for _, refusal := range ref.Refusals {
			j.Expired = append(j.Expired, Expiry{fmt.Sprintf("%s, reference %d", name, ref.Watcher), refusal})
		}
		if !ref.Ended && ref.Reached < r.End {
			j.add(Arrival, "%s, reference %d came only to version %d of %d", name, ref.Watcher, ref.Reached, r.End)
		}
	}
	if l.reached < r.End {
		j.add(Agreement, "%s: the references cover changes only up to version %d of %d", name, l.reached, r.End)
	}
}

// replay checks that each event of the log has the type that the object's state requires.
func (j *judge) replay(name string, l *Log) {
	for i := range l.entries {
		e := &l.entries[i]
		if e.version() > l.reached {
			return
		}
		switch {
		case e.before == nil && e.kind != Added:
			j.add(Agreement, "%s: %s %s, which was not there", name, e.kind, e.object)
		case e.before != nil && e.kind == Added:
			j.add(Agreement, "%s: %s %s, which was there: %s", name, e.kind, e.object, e.before)
		case e.before != nil && e.before.UID != e.object.UID:
			j.add(Agreement, "%s: %s %s, which was another object: %s", name, e.kind, e.object, e.before)
		}
	}
}

// writes checks that each acknowledged write is in the log, and that a write explains each entry.
func (j *judge) writes(name string, r *Resource, l *Log) {
	markers, deletions := map[string]*Write{}, map[string]*Write{}
	gone := map[string]bool{} // by uid: removed, or only marked for deletion
	for i := range l.entries {
		if e := &l.entries[i]; e.kind == Deleted || e.object.Deleting {
			gone[e.object.UID] = gone[e.object.UID] || e.kind == Deleted
		}
	}
	for i := range r.Writes {
		w := &r.Writes[i]
		if w.Marker != "" {
			markers[w.Marker] = w
		}
		if w.Deletes != "" {
			deletions[w.Deletes] = w
		}
		if w.Outcome == Acknowledged {
			j.Writes++
			j.acknowledged(name, w, l, gone)
		}
	}
	for i := range l.entries {
		e := &l.entries[i]
		if e.version() > l.reached || !slices.Contains(r.Namespaces, e.object.Namespace) {
			continue
		}
		explained := markers[e.object.Marker] != nil
		if e.before != nil && e.before.Marker == e.object.Marker { // only deletions leave the marker
			explained = deletions[e.object.UID] != nil
		}
		if !explained {
			j.add(Agreement, "%s: no write explains %s %s", name, e.kind, e.object)
		}
	}
}

// acknowledged checks that the log agrees with the response to a write.
func (j *judge) acknowledged(name string, w *Write, l *Log, gone map[string]bool) {
	if w.Object.Version == 0 { // the answer to a deletion has no version
		removed, marked := gone[w.Deletes]
		if l.reached >= l.end && (!marked || w.Removes && !removed) {
			j.add(Agreement, "%s: no event reports the %s of uid %s on %s, which was acknowledged", name, w.Kind, w.Deletes, w.Node)
		}
		return
	}
	if w.Object.Version > l.reached {
		return
	}
	e := l.at(w.Object.Version)
	switch {
	case e == nil:
		j.add(Agreement, "%s: no event reports %s, acknowledged to a %s on %s", name, &w.Object, w.Kind, w.Node)
	case *e.object != w.Object:
		j.add(Agreement, "%s: %s %s; its %s on %s was answered %s", name, e.kind, e.object, w.Kind, w.Node, &w.Object)
	case w.Removes != (e.kind == Deleted):
		j.add(Agreement, "%s: %s %s; removed according to the response to its %s: %t", name, e.kind, e.object, w.Kind, w.Removes)
	}
}
