package history

// Interest is a condition on events of a resource, by which a Listener is found without a look at
// those that an event does not concern. Equal interests compare equal.
type Interest struct {
	property    property
	name, value string
}

// property is what an Interest requires of an event.
type property uint8

const (
	anything property = iota
	namespaceIs
	nameIs
	fieldIs
	labelIs
	properties // their number
)

// Everything is the interest in all events.
func Everything() Interest { return Interest{} }

// InNamespace is the interest in the events of a namespace.
func InNamespace(namespace string) Interest { return Interest{property: namespaceIs, value: namespace} }

// Named is the interest in the events of the objects of a name, in any namespace.
func Named(name string) Interest { return Interest{property: nameIs, value: name} }

// WithField is the interest in the events of objects that have, or had before the event, a
// selectable field with a value that is not empty.
func WithField(name, value string) Interest { return Interest{fieldIs, name, value} }

// WithLabel is the interest in the events of objects that have, or had before the event, a label
// with this value.
func WithLabel(name, value string) Interest { return Interest{labelIs, name, value} }

// kept are the interests of an Index: their number for each property, and the names that those in
// fields and labels require.
type kept struct {
	counts         [properties]int
	fields, labels names
}

// names returns the names that the interests of a property require; nil if they require none.
func (k *kept) names(p property) *names {
	switch p {
	case fieldIs:
		return &k.fields
	case labelIs:
		return &k.labels
	}
	return nil
}

func (k *kept) add(i Interest) {
	k.counts[i.property]++
	if n := k.names(i.property); n != nil {
		n.add(i.name)
	}
}

func (k *kept) remove(i Interest) {
	k.counts[i.property]--
	if n := k.names(i.property); n != nil {
		n.remove(i.name)
	}
}

// interests calls yield with each interest that the event meets, of the properties and names that
// are kept. It may call yield with the same interest twice. The event must not be a
// PreviousUnknown, which meets interests that it does not name.
func (e *Event) interests(kept *kept, yield func(Interest)) {
	yield(Everything())
	if kept.counts[namespaceIs]+kept.counts[nameIs] > 0 {
		_, namespace, name := e.Object.Key.Split()
		if kept.counts[namespaceIs] > 0 {
			yield(InNamespace(namespace))
		}
		if kept.counts[nameIs] > 0 {
			yield(Named(name))
		}
	}
	withField := func(name, value string) { yield(WithField(name, value)) }
	withLabel := func(name, value string) { yield(WithLabel(name, value)) }
	kept.fields.each(e.Object.Fields, withField)
	kept.labels.each(e.Object.Labels, withLabel)
	if p := e.Previous; p != nil {
		if p.Fields != e.Object.Fields {
			kept.fields.each(p.Fields, withField)
		}
		if p.Labels != e.Object.Labels {
			kept.labels.each(p.Labels, withLabel)
		}
	}
}

// Index finds values by the Interest under which they were added. The zero value is empty.
type Index[V comparable] struct {
	kept   kept
	groups map[Interest]*group[V]
	pass   uint64 // number of the last call of Concerned
}

// group holds the values of one interest.
type group[V comparable] struct {
	values map[V]int // how often each was added
	pass   uint64    // of the last call of Concerned that returned the group
}

// Add adds a value under an interest. A value that is added twice must be removed twice.
func (x *Index[V]) Add(i Interest, v V) {
	if x.groups == nil {
		x.groups = make(map[Interest]*group[V])
	}
	g := x.groups[i]
	if g == nil {
		g = &group[V]{values: make(map[V]int, 1)}
		x.groups[i] = g
		x.kept.add(i)
	}
	g.values[v]++
}

// Remove removes a value that was added under the interest.
func (x *Index[V]) Remove(i Interest, v V) {
	g := x.groups[i]
	if g.values[v]--; g.values[v] > 0 {
		return
	}
	delete(g.values, v)
	if len(g.values) == 0 {
		delete(x.groups, i)
		x.kept.remove(i)
	}
}

// Empty reports whether the index holds no values.
func (x *Index[V]) Empty() bool { return len(x.groups) == 0 }

// Concerned calls yield with each value whose interest one of the events meets, at least once if
// the same value was added under several. The events and values of other interests cost nothing.
// yield may remove the value that it is called with.
func (x *Index[V]) Concerned(events []*Event, yield func(event *Event, v V)) {
	x.pass++
	for _, e := range events {
		if e.PreviousUnknown {
			for _, g := range x.groups {
				g.visit(x.pass, e, yield)
			}
			return
		}
		e.interests(&x.kept, func(i Interest) {
			if g := x.groups[i]; g != nil {
				g.visit(x.pass, e, yield)
			}
		})
	}
}

// All calls yield with each value. yield may remove the value that it is called with.
func (x *Index[V]) All(yield func(v V)) {
	for _, g := range x.groups {
		for v := range g.values {
			yield(v)
		}
	}
}

func (g *group[V]) visit(pass uint64, e *Event, yield func(*Event, V)) {
	if g.pass == pass {
		return
	}
	g.pass = pass
	for v := range g.values {
		yield(e, v)
	}
}
