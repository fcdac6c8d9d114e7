package watchmodel

import "fmt"

// chain judges one watch, stream by stream, and whether it reached the last write.
func (j *judge) chain(c *Chain, l *Log) {
	j.Watches++
	j.Streams += len(c.Streams)
	for i := range c.Streams {
		s := &c.Streams[i]
		j.Events += len(s.Events)
		if s.Expired {
			j.Expired = append(j.Expired, Expiry{c.describe(nil), Refusal{s.Node, s.position(), s.Closed}})
		}
		if c.Forbidden {
			j.add(Crossing, "%s was opened, and delivered %d events", c.describe(s), len(s.Events))
			continue
		}
		v := &visit{judge: j, chain: c, stream: s, log: l}
		v.run()
	}
	switch {
	case c.Forbidden && len(c.Streams) == 0:
		j.Refused++
	case !c.Complete || c.Forbidden:
	case c.Position == 0:
		j.add(Arrival, "%s never began", c.describe(nil))
	default:
		if last := l.Last(&c.Selection, c.Position); last != 0 {
			j.add(Arrival, "%s came only to version %d: an event of version %d is missing", c.describe(nil), c.Position, last)
		}
	}
}

// describe names a watch, and a stream of it if there is one.
func (c *Chain) describe(s *Stream) string {
	text := fmt.Sprintf("watch %d of %s", c.Watcher, c.Path)
	if c.User != "" {
		text += " as " + c.User
	}
	if s != nil {
		text += fmt.Sprintf(", on %s by connection %d after version %d", s.Node, s.Connection, s.After)
	}
	return text
}

// position is the version of the last event, or where the stream began.
func (s *Stream) position() uint64 {
	if len(s.Events) == 0 {
		return s.After
	}
	return s.Events[len(s.Events)-1].version()
}

// visit is the comparison of one stream with the log.
type visit struct {
	*judge
	chain  *Chain
	stream *Stream
	log    *Log
	last   uint64          // the highest version that arrived
	told   map[uint64]bool // versions that arrived
}

func (v *visit) add(r Rule, format string, args ...any) {
	v.judge.add(r, "%s: %s", v.chain.describe(v.stream), fmt.Sprintf(format, args...))
}

func (v *visit) run() {
	v.told, v.last = map[uint64]bool{}, v.stream.After
	events := v.stream.Events
	if v.stream.Initial {
		var begun bool
		if events, begun = v.initial(events); !begun {
			return
		}
	}
	from := v.last
	for i := range events {
		v.event(&events[i])
	}
	v.missing(from)
}

// event judges one event by itself. After a bookmark nothing below its position may follow.
func (v *visit) event(e *Event) {
	o := e.Object.Value()
	if e.Form != v.chain.Form {
		v.add(Contents, "%s %s is a %s, want a %s", e.Type, &o, e.Form, v.chain.Form)
	}
	if e.Type == Bookmark {
		v.bookmark(o.Version)
		return
	}
	switch {
	case v.told[o.Version]:
		v.add(Order, "%s %s again", e.Type, &o)
		return
	case o.Version <= v.last:
		v.add(Order, "%s %s after version %d", e.Type, &o, v.last)
	}
	v.told[o.Version] = true
	v.last = max(v.last, o.Version)
	if o.Version > v.log.reached {
		v.unjudged(o.Version, 1)
		return
	}
	v.compare(e.Type, o)
}

// unjudged counts events that the log does not cover. What follows the last write is not of the
// run.
func (v *visit) unjudged(version uint64, events int) {
	if version <= v.log.end {
		v.Unjudged += events
	}
}

// compare holds an event against the entry of its version.
func (v *visit) compare(kind string, o Object) {
	e := v.log.at(o.Version)
	if e == nil {
		v.add(Foreign, "%s %s, of a version that nothing was written at", kind, &o)
		return
	}
	want, any := v.chain.expect(e)
	switch {
	case v.chain.Namespace != "" && e.object.Namespace != v.chain.Namespace:
		v.add(Crossing, "%s %s", kind, e.object)
		return
	case !any:
		v.add(Foreign, "%s %s, which is not selected: the change was %s %s", kind, &o, e.kind, e.object)
		return
	}
	if kind != want.kind {
		v.add(Types, "%s %s, want %s", kind, &o, want.kind)
	}
	if shown := v.chain.View.of(want.object); shown != o {
		v.add(Contents, "%s %s, want %s", kind, &o, &shown)
	}
}

func (v *visit) bookmark(version uint64) {
	if !v.chain.Bookmarks {
		v.add(Foreign, "a bookmark of version %d, which was not asked for", version)
	}
	if version < v.last {
		v.add(Order, "a bookmark of version %d after version %d", version, v.last)
	}
	v.last = max(v.last, version)
}

// missing finds the events that the stream omitted: it claims to have sent all up to its last
// position.
func (v *visit) missing(from uint64) {
	for _, e := range v.log.after(from) {
		if e.version() > min(v.last, v.log.reached) {
			return
		}
		if want, any := v.chain.expect(&e); any && !v.told[e.version()] {
			v.add(Misses, "%s %s did not arrive before version %d", want.kind, &want.object, v.last)
		}
	}
}
