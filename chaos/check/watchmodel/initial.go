package watchmodel

import "slices"

// initial judges the events up to the bookmark that ends the initial ones, and returns those that
// follow. A stream that ended before it has begun nothing: then each event is judged by itself.
func (v *visit) initial(events []Event) (rest []Event, begun bool) {
	n := slices.IndexFunc(events, func(e Event) bool { return e.Initial })
	if n < 0 {
		for i := range events {
			v.existed(&events[i])
		}
		return nil, false
	}
	version := events[n].version()
	if version < v.stream.After {
		v.add(Initial, "the initial events are of version %d", version)
	}
	v.last = version
	if version > v.log.reached {
		v.unjudged(version, n)
		return events[n+1:], true
	}
	got := make([]Object, 0, n)
	for _, e := range events[:n] {
		if e.Type != Added || e.Form != v.chain.Form {
			v.add(Initial, "%s of a %s among the initial events, want %s of a %s", e.Type, e.Form, Added, v.chain.Form)
		}
		got = append(got, e.Object.Value())
	}
	v.sameState(version, got)
	return events[n+1:], true
}

// sameState compares the initial events with the selected objects of a version, in order.
func (v *visit) sameState(version uint64, got []Object) {
	var want []Object
	for _, o := range v.log.state(version) {
		if v.chain.Matches(&o) {
			want = append(want, v.chain.View.of(o))
		}
	}
	if slices.Equal(got, want) {
		return
	}
	before := len(want)
	for _, o := range got {
		if n := slices.Index(want, o); n >= 0 {
			want = slices.Delete(want, n, n+1)
		} else {
			v.add(Initial, "%s is not in the state of version %d", &o, version)
		}
	}
	for i := range want {
		v.add(Initial, "%s of the state of version %d did not arrive", &want[i], version)
	}
	if len(want) == 0 && len(got) == before {
		v.add(Initial, "the objects of version %d are not in the order of their names", version)
	}
}

// existed judges an initial event of a state whose version is not known.
func (v *visit) existed(e *Event) {
	o := e.Object.Value()
	if e.Type != Added {
		v.add(Initial, "%s %s before the end of the initial events", e.Type, &o)
		return
	}
	if o.Version > v.log.reached {
		v.unjudged(o.Version, 1)
		return
	}
	match := func(known *Object) bool {
		return v.chain.Matches(known) && v.chain.View.of(*known) == o
	}
	if is := v.log.at(o.Version); is != nil && is.kind != Deleted && match(is.object) {
		return
	}
	if !slices.ContainsFunc(v.log.present, func(known Object) bool { return match(&known) }) {
		v.add(Foreign, "%s %s, which was never selected", e.Type, &o)
	}
}
