package watchmodel_test

import (
	"slices"
	"testing"
	"unique"

	"pgregory.net/rapid"

	"quorate/chaos/check/watchmodel"
)

// TestRightRecords checks that Judge finds no violation in the records of a correct server.
func TestRightRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := simulate(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 80).Draw(t, "changes"))
		if v := watchmodel.Judge(w.record()); v.Violations() > 0 || v.Unjudged > 0 {
			t.Fatalf("%+v", v)
		}
	})
}

// flaw is an error in what a client received.
type flaw struct {
	name   string
	breaks watchmodel.Rule
	// plant makes it, and reports whether the record has a place for it.
	plant func(w *world, r *watchmodel.Record) bool
}

// TestFlawsAreFound plants each flaw in many right records: it must be found, under its rule.
func TestFlawsAreFound(t *testing.T) {
	const records, enough = 60, 10
	for _, f := range slices.Concat(flaws(), logFlaws()) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			planted := 0
			for seed := range uint64(records) {
				w := simulate(seed, 60)
				r := w.record()
				if !f.plant(w, r) {
					continue
				}
				planted++
				v := watchmodel.Judge(r)
				i := slices.IndexFunc(v.Findings, func(found watchmodel.Finding) bool { return found.Rule == f.breaks })
				if v.Findings[i].Count == 0 {
					t.Fatalf("seed %d: not found under %q, but %+v", seed, f.breaks, v.Findings)
				}
			}
			if planted < enough {
				t.Errorf("only %d of %d records had a place for it", planted, records)
			}
		})
	}
}

// place is an event of a stream.
type place struct {
	chain  *watchmodel.Chain
	stream *watchmodel.Stream
	n      int
}

func (p place) event() *watchmodel.Event { return &p.stream.Events[p.n] }

// edit changes the object of the event.
func (p place) edit(change func(*watchmodel.Object)) {
	o := p.event().Object.Value()
	change(&o)
	p.event().Object = unique.Make(o)
}

// changes returns the events that are neither bookmarks nor initial ones.
func changes(r *watchmodel.Record) (all []place) {
	for i := range r.Chains {
		c := &r.Chains[i]
		for k := range c.Streams {
			begun := !c.Streams[k].Initial
			for n, e := range c.Streams[k].Events {
				if begun && e.Type != watchmodel.Bookmark {
					all = append(all, place{c, &c.Streams[k], n})
				}
				begun = begun || e.Initial
			}
		}
	}
	return all
}

// pick returns one of the events that fit.
func pick(w *world, r *watchmodel.Record, fits func(place) bool) (p place, found bool) {
	all := slices.DeleteFunc(changes(r), func(p place) bool { return !fits(p) })
	if len(all) == 0 {
		return place{}, false
	}
	return all[w.IntN(len(all))], true
}

func anywhere(place) bool { return true }

// within reports whether an event is followed by another one of its stream.
func within(p place) bool { return p.n+1 < len(p.stream.Events) }

// flaws are those of single watches.
func flaws() []flaw {
	return []flaw{
		{"an event is missing", watchmodel.Misses, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, within)
			if ok {
				p.stream.Events = slices.Delete(p.stream.Events, p.n, p.n+1)
			}
			return ok
		}},
		{"an object leaves the selection, and nothing is said", watchmodel.Misses, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, func(p place) bool { return within(p) && p.event().Type == watchmodel.Deleted && p.chain.Labels != nil })
			if ok {
				p.stream.Events = slices.Delete(p.stream.Events, p.n, p.n+1)
			}
			return ok
		}},
		{"the last event never comes", watchmodel.Arrival, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, func(p place) bool { return !p.chain.Bookmarks && p.event().Object.Value().Version == p.chain.Position })
			if ok {
				p.stream.Events = p.stream.Events[:p.n]
				p.chain.Position--
			}
			return ok
		}},
		{"a watch never begins", watchmodel.Arrival, func(w *world, r *watchmodel.Record) bool {
			r.Chains[0].Streams, r.Chains[0].Position = nil, 0
			return true
		}},
		{"an event of another namespace", watchmodel.Crossing, func(w *world, r *watchmodel.Record) bool {
			return foreign(w, r, func(c *watchmodel.Chain) bool { return c.Namespace == "a" && c.Name == "" }, "b")
		}},
		{"an event of another object", watchmodel.Foreign, func(w *world, r *watchmodel.Record) bool {
			return foreign(w, r, func(c *watchmodel.Chain) bool { return c.Name != "" }, "a")
		}},
		{"an event of an object without the label", watchmodel.Foreign, func(w *world, r *watchmodel.Record) bool {
			return foreign(w, r, func(c *watchmodel.Chain) bool { return len(c.Labels) > 0 }, "b")
		}},
		{"an event of what nobody did", watchmodel.Foreign, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, anywhere)
			o := watchmodel.Object{Version: 11}
			for slices.ContainsFunc(w.changes, func(c change) bool { return c.object.Version == o.Version }) {
				o.Version++
			}
			if ok {
				p.stream.Events = append(p.stream.Events, event(watchmodel.Added, o))
			}
			return ok && o.Version < w.version
		}},
		{"a watch that its user may not have", watchmodel.Crossing, func(w *world, r *watchmodel.Record) bool {
			r.Chains[0].Forbidden = true
			return true
		}},
		{"a bookmark that was not asked for", watchmodel.Foreign, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, func(p place) bool { return !p.chain.Bookmarks })
			if ok {
				p.stream.Events = append(p.stream.Events, event(watchmodel.Bookmark, watchmodel.Object{Version: w.version}))
			}
			return ok
		}},
		{"an event comes twice", watchmodel.Order, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, anywhere)
			if ok {
				p.stream.Events = slices.Insert(p.stream.Events, p.n, *p.event())
			}
			return ok
		}},
		{"events change places", watchmodel.Order, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, within)
			if ok {
				p.stream.Events[p.n], p.stream.Events[p.n+1] = p.stream.Events[p.n+1], p.stream.Events[p.n]
			}
			return ok
		}},
		{"an event comes from before the stream", watchmodel.Order, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, func(p place) bool { return !p.stream.Initial })
			if ok {
				p.stream.After = p.event().Object.Value().Version
			}
			return ok
		}},
		{"a bookmark goes back", watchmodel.Order, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, func(p place) bool { return p.chain.Bookmarks })
			if ok {
				back := event(watchmodel.Bookmark, watchmodel.Object{Version: p.event().Object.Value().Version - 1})
				p.stream.Events = slices.Insert(p.stream.Events, p.n+1, back)
			}
			return ok
		}},
		{"an event has another type", watchmodel.Types, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, anywhere)
			if ok {
				types := []string{watchmodel.Added, watchmodel.Modified, watchmodel.Deleted}
				p.event().Type = types[(slices.Index(types, p.event().Type)+1+w.IntN(2))%3]
			}
			return ok
		}},
		{"an event has another version", watchmodel.Misses, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, within)
			if ok {
				p.edit(func(o *watchmodel.Object) { o.Version += 1000 })
			}
			return ok
		}},
		{"an event has other labels", watchmodel.Contents, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, anywhere)
			if ok {
				p.edit(func(o *watchmodel.Object) { o.Labels += ",z=z" })
			}
			return ok
		}},
		{"an object that left is shown as it is now", watchmodel.Contents, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, func(p place) bool {
				now := w.at(p.event().Object.Value().Version)
				return p.event().Type == watchmodel.Deleted && shown(p.chain.View, now) != p.event().Object.Value()
			})
			if ok {
				p.edit(func(o *watchmodel.Object) { *o = shown(p.chain.View, w.at(o.Version)) })
			}
			return ok
		}},
		{"an event has another form", watchmodel.Contents, func(w *world, r *watchmodel.Record) bool {
			p, ok := pick(w, r, anywhere)
			if ok {
				p.event().Form = "v1 Pod"
			}
			return ok
		}},
		{"an initial event is missing", watchmodel.Initial, func(w *world, r *watchmodel.Record) bool {
			s := initial(r)
			if s != nil {
				s.Events = s.Events[1:]
			}
			return s != nil
		}},
		{"an initial event is of another version", watchmodel.Initial, func(w *world, r *watchmodel.Record) bool {
			s := initial(r)
			if s != nil {
				place{stream: s}.edit(func(o *watchmodel.Object) { o.Version-- })
			}
			return s != nil
		}},
		{"the initial events are older than was asked for", watchmodel.Initial, func(w *world, r *watchmodel.Record) bool {
			s := initial(r)
			if s != nil {
				s.After = w.version
			}
			return s != nil
		}},
	}
}

// at returns the object of a version.
func (w *world) at(version uint64) watchmodel.Object {
	for _, c := range w.changes {
		if c.object.Version == version {
			return c.object
		}
	}
	return watchmodel.Object{}
}

// initial returns a stream that begins with initial events, nil if there is none.
func initial(r *watchmodel.Record) *watchmodel.Stream {
	for i := range r.Chains {
		if s := &r.Chains[i].Streams[0]; s.Initial && len(s.Events) > 0 && s.Events[0].Type == watchmodel.Added {
			return s
		}
	}
	return nil
}

// foreign puts a change of a namespace that is not selected between the events of a chain that
// fits.
func foreign(w *world, r *watchmodel.Record, fits func(*watchmodel.Chain) bool, namespace string) bool {
	p, ok := pick(w, r, func(p place) bool { return fits(p.chain) })
	if !ok {
		return false
	}
	told := p.event().Object.Value().Version
	for _, c := range w.changes {
		if c.object.Version > told && c.object.Namespace == namespace && !selected(w, p.chain, c.object.Version) {
			p.stream.Events = append(p.stream.Events[:p.n+1], event(c.kind, shown(p.chain.View, c.object)))
			return true
		}
	}
	return false
}

// selected reports whether the chain receives the change of a version.
func selected(w *world, c *watchmodel.Chain, version uint64) bool {
	return slices.ContainsFunc(w.follow(c, version-1), func(e watchmodel.Event) bool { return e.Object.Value().Version == version })
}
