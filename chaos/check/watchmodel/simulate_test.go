package watchmodel_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"unique"

	"quorate/chaos/check/watchmodel"
)

const (
	resource = "configmaps"
	form     = "v1 ConfigMap"
)

// change is one change of the simulated store, with the whole state after it.
type change struct {
	kind   string
	object watchmodel.Object
	after  map[string]watchmodel.Object
}

// world is a store with two namespaces, and the responses to its writers.
type world struct {
	*rand.Rand
	version uint64
	objects map[string]watchmodel.Object
	changes []change
	writes  []watchmodel.Write
	made    int
}

// simulate makes a number of changes.
func simulate(seed uint64, changes int) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 0)), version: 10, objects: map[string]watchmodel.Object{}}
	for len(w.changes) < changes {
		w.step()
	}
	return w
}

func (w *world) label() watchmodel.Labels {
	return watchmodel.LabelsOf(map[string]string{"l": string("xy"[w.IntN(2)]), "m": string("xy"[w.IntN(2)])})
}

// step creates, changes, deletes, or removes the finalizer of an object, with or without its
// labels.
func (w *world) step() {
	namespace, name := string("ab"[w.IntN(2)]), fmt.Sprintf("o%d", w.IntN(4))
	o, there := w.objects[namespace+"/"+name]
	w.made++
	marker := fmt.Sprintf("w%d", w.made)
	switch {
	case !there:
		o = watchmodel.Object{Namespace: namespace, Name: name, UID: "uid-" + marker, Labels: w.label(), Marker: marker, Phase: "Pending"}
		if w.IntN(2) == 0 {
			o.Finalizers = "f"
		}
		w.put(watchmodel.Added, o, watchmodel.Write{Kind: "create", Marker: marker})
	case w.IntN(3) > 0 && !o.Deleting:
		o.Labels, o.Marker, o.Phase = w.label(), marker, []string{"Pending", "Running"}[w.IntN(2)]
		w.put(watchmodel.Modified, o, watchmodel.Write{Kind: "replace", Marker: marker})
	case o.Finalizers == "":
		w.put(watchmodel.Deleted, o, watchmodel.Write{Kind: "delete", Deletes: o.UID, Removes: true})
	case !o.Deleting:
		o.Deleting = true
		w.put(watchmodel.Modified, o, watchmodel.Write{Kind: "delete", Deletes: o.UID})
	default: // the final write also changes the labels
		o.Finalizers, o.Labels, o.Marker = "", w.label(), marker
		w.put(watchmodel.Deleted, o, watchmodel.Write{Kind: "patch", Marker: marker, Removes: true})
	}
}

func (w *world) put(kind string, o watchmodel.Object, write watchmodel.Write) {
	w.version += 1 + uint64(w.IntN(3))
	o.Version = w.version
	if kind == watchmodel.Deleted {
		delete(w.objects, o.Namespace+"/"+o.Name)
	} else {
		w.objects[o.Namespace+"/"+o.Name] = o
	}
	w.changes = append(w.changes, change{kind, o, maps.Clone(w.objects)})
	write.Object = o
	if write.Kind == "delete" { // its answer has no version
		write.Object = watchmodel.Object{}
	}
	if w.IntN(10) == 0 {
		write.Outcome, write.Object = watchmodel.Unknown, watchmodel.Object{}
	}
	w.writes = append(w.writes, write)
}

func event(kind string, o watchmodel.Object) watchmodel.Event {
	return watchmodel.Event{Type: kind, Form: form, Object: unique.Make(o)}
}

// reference returns a watch of everything.
func (w *world) reference(number int) watchmodel.Reference {
	r := watchmodel.Reference{Watcher: number, After: 10, Reached: w.version, Nodes: []string{"n1"}}
	for _, c := range w.changes {
		r.Events = append(r.Events, event(c.kind, c.object))
	}
	return r
}

// follow returns what a watch of the selection tells after a version. It remembers which objects
// the client knows, where the model compares two states of one object.
func (w *world) follow(c *watchmodel.Chain, after uint64) (events []watchmodel.Event) {
	known := map[string]watchmodel.Object{}
	for _, change := range w.changes {
		seen := map[string]watchmodel.Object{}
		for key, o := range change.after {
			if c.Matches(&o) {
				seen[key] = o
			}
		}
		changed := change.object
		key := changed.Namespace + "/" + changed.Name
		had, knew := known[key]
		now, knows := seen[key]
		known = seen
		if changed.Version <= after {
			continue
		}
		switch {
		case knows && knew:
			events = append(events, event(watchmodel.Modified, shown(c.View, now)))
		case knows:
			events = append(events, event(watchmodel.Added, shown(c.View, now)))
		case knew && c.Matches(&changed):
			events = append(events, event(watchmodel.Deleted, shown(c.View, changed)))
		case knew:
			had.Version = changed.Version
			events = append(events, event(watchmodel.Deleted, shown(c.View, had)))
		}
	}
	return events
}

func shown(view watchmodel.View, o watchmodel.Object) watchmodel.Object {
	switch view {
	case watchmodel.Metadata:
		o.Node, o.Phase, o.Value = "", "", ""
	case watchmodel.Row:
		o = watchmodel.Object{Name: o.Name, Version: o.Version}
	}
	return o
}

// opening returns the initial events of a state, and the version of that.
func (w *world) opening(c *watchmodel.Chain) (events []watchmodel.Event, version uint64) {
	at := w.changes[len(w.changes)/2]
	for _, o := range slices.SortedFunc(maps.Values(at.after), func(a, b watchmodel.Object) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}) {
		if c.Matches(&o) {
			events = append(events, event(watchmodel.Added, shown(c.View, o)))
		}
	}
	end := event(watchmodel.Bookmark, watchmodel.Object{Version: at.object.Version})
	end.Initial = true
	return append(events, end), at.object.Version
}

// chain cuts what a watch tells into streams at random places.
func (w *world) chain(c watchmodel.Chain, after uint64) watchmodel.Chain {
	c.Resource, c.Form, c.Path, c.Complete = resource, form, "/watch", true
	initial := c.Bookmarks && w.IntN(2) == 0
	var first []watchmodel.Event
	if initial {
		first, after = w.opening(&c)
	}
	position := after
	events := w.follow(&c, after)
	for len(events) > 0 || len(c.Streams) == 0 {
		n := w.IntN(len(events) + 1)
		s := watchmodel.Stream{Node: "n1", After: position, Initial: initial, Events: append(first, events[:n]...)}
		if initial {
			s.After, initial, first = 0, false, nil
		}
		for _, e := range events[:n] {
			position = e.Object.Value().Version
		}
		c.Streams, events = append(c.Streams, s), events[n:]
	}
	c.Position = position
	if c.Bookmarks { // the last one says that there is nothing more
		last := &c.Streams[len(c.Streams)-1]
		last.Events = append(last.Events, event(watchmodel.Bookmark, watchmodel.Object{Version: w.version}))
		c.Position = w.version
	}
	return c
}

// selections are those that are judged.
func selections() []watchmodel.Selection {
	term := func(key string, op watchmodel.Operator, values ...string) []watchmodel.Term {
		return []watchmodel.Term{{Key: key, Operator: op, Values: values}}
	}
	return []watchmodel.Selection{
		{},
		{Namespace: "a"},
		{Namespace: "a", Name: "o1"},
		{Labels: term("l", watchmodel.Equals, "x")},
		{Labels: term("l", watchmodel.NotEquals, "x"), Namespace: "b"},
		{Labels: term("l", watchmodel.In, "x", "z")},
		{Labels: term("m", watchmodel.NotIn, "y")},
		{Labels: term("n", watchmodel.NotExists)},
		{Fields: term("metadata.namespace", watchmodel.Equals, "b")},
		{Fields: term("status.phase", watchmodel.NotEquals, "Running"), Labels: term("l", watchmodel.Exists)},
	}
}

// record returns what a right server tells two watches of each selection.
func (w *world) record() *watchmodel.Record {
	r := &watchmodel.Record{Resources: map[string]*watchmodel.Resource{resource: {
		Base: 10, End: w.version, Writes: w.writes, Namespaces: []string{"a", "b"},
		References: []watchmodel.Reference{w.reference(1), w.reference(2), w.reference(3)},
	}}}
	for i, s := range selections() {
		for range 2 {
			after := min(uint64(10+w.IntN(20)), w.version)
			c := watchmodel.Chain{Watcher: len(r.Chains) + 10, Selection: s, View: watchmodel.View(w.IntN(3)), Bookmarks: i%2 == 0}
			r.Chains = append(r.Chains, w.chain(c, after))
		}
	}
	return r
}
