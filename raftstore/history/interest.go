package history

// Interest is a condition on events of a resource, by which a Listener is found without a look at
// those that an event does not concern. Equal interests compare equal.
type Interest struct {
	property    property
	name, value string
	namespace   string // that of the events; empty for any
}

// property is what an Interest requires of an event beside its namespace.
type property uint8

const (
	anything property = iota
	nameIs
	fieldIs
	labelIs
	properties // their number
)

// Everything is the interest in all events.
func Everything() Interest { return Interest{} }

// Named is the interest in the events of the objects of a name, in any namespace.
func Named(name string) Interest { return Interest{property: nameIs, value: name} }

// WithField is the interest in the events of objects that have, or had before the event, a
// selectable field with a value that is not empty.
func WithField(name, value string) Interest {
	return Interest{property: fieldIs, name: name, value: value}
}

// WithLabel is the interest in the events of objects that have, or had before the event, a label
// with this value.
func WithLabel(name, value string) Interest {
	return Interest{property: labelIs, name: name, value: value}
}

// In is the interest in those of the events that are in a namespace; an empty one is any.
func (i Interest) In(namespace string) Interest {
	i.namespace = namespace
	return i
}

// kept are the interests of an Index: their number for each property, the number of those in a
// namespace, and the names that those in fields and labels require.
type kept struct {
	counts         [properties]int
	inNamespace    int
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
	if i.namespace != "" {
		k.inNamespace++
	}
	if n := k.names(i.property); n != nil {
		n.add(i.name)
	}
}

func (k *kept) remove(i Interest) {
	k.counts[i.property]--
	if i.namespace != "" {
		k.inNamespace--
	}
	if n := k.names(i.property); n != nil {
		n.remove(i.name)
	}
}

// interests calls yield with each interest that the event meets, of the properties and names that
// are kept. It may call yield with the same interest twice. The event must not be a
// PreviousUnknown, which meets interests that it does not name.
func (e *Event) interests(kept *kept, yield func(Interest)) {
	_, namespace, name := e.Object.Key.Split()
	meet := func(i Interest) {
		yield(i)
		if namespace != "" && kept.inNamespace > 0 {
			yield(i.In(namespace))
		}
	}
	if kept.counts[anything] > 0 {
		meet(Everything())
	}
	if kept.counts[nameIs] > 0 {
		meet(Named(name))
	}
	withField := func(name, value string) { meet(WithField(name, value)) }
	withLabel := func(name, value string) { meet(WithLabel(name, value)) }
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

// group holds the values of one interest. Most groups have one value, which needs no map: of
// 20,000 watches of as many names, the maps were 0.4 KiB each.
type group[V comparable] struct {
	one   V
	times int       // that one was added; 0 if there is none
	more  map[V]int // how often each of the others was added
	pass  uint64    // of the last call of Concerned that returned the group
}

func (g *group[V]) add(v V) {
	switch {
	case g.times > 0 && g.one == v:
		g.times++
	case g.times == 0 && g.more[v] == 0:
		g.one, g.times = v, 1
	default:
		if g.more == nil {
			g.more = make(map[V]int)
		}
		g.more[v]++
	}
}

// remove reports whether the group is empty afterwards.
func (g *group[V]) remove(v V) bool {
	if g.times > 0 && g.one == v {
		if g.times--; g.times == 0 {
			var none V
			g.one = none
		}
	} else if g.more[v]--; g.more[v] == 0 {
		delete(g.more, v)
	}
	return g.times == 0 && len(g.more) == 0
}

// all calls yield with each value. yield may remove the value that it is called with.
func (g *group[V]) all(yield func(V)) {
	if g.times > 0 {
		yield(g.one)
	}
	for v := range g.more {
		yield(v)
	}
}

// Add adds a value under an interest. A value that is added twice must be removed twice.
func (x *Index[V]) Add(i Interest, v V) {
	if x.groups == nil {
		x.groups = make(map[Interest]*group[V])
	}
	g := x.groups[i]
	if g == nil {
		g = new(group[V])
		x.groups[i] = g
		x.kept.add(i)
	}
	g.add(v)
}

// Remove removes a value that was added under the interest.
func (x *Index[V]) Remove(i Interest, v V) {
	if x.groups[i].remove(v) {
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
		g.all(yield)
	}
}

func (g *group[V]) visit(pass uint64, e *Event, yield func(*Event, V)) {
	if g.pass == pass {
		return
	}
	g.pass = pass
	g.all(func(v V) { yield(e, v) })
}
