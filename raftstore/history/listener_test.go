package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"quorate/raftstore/state"
)

// labelled returns an event of a pod with labels and fields, which replaces one that had others.
func labelled(index uint64, namespace, name string, labels, fields, oldLabels, oldFields map[string]string) *Event {
	e := event(index, state.NewKey("pods", namespace, name), 1)
	e.Type = Modified
	e.Object.Labels, e.Object.Fields = state.NewAttributes(labels), state.NewAttributes(fields)
	if oldLabels != nil || oldFields != nil {
		e.Previous = &state.Object{Key: e.Object.Key, Labels: state.NewAttributes(oldLabels), Fields: state.NewAttributes(oldFields)}
	}
	return e
}

// listening reports whether a listener has been woken, and resets it.
func listening(l *Listener) bool {
	select {
	case <-l.woken:
		return true
	default:
		return false
	}
}

func TestListener_is_woken_by_what_concerns_it(t *testing.T) {
	app, node := map[string]string{"app": "web"}, map[string]string{"spec.nodeName": "n1"}
	events := map[string]func(index uint64) *Event{
		"another resource":  func(i uint64) *Event { return event(i, state.NewKey("nodes", "", "x"), 1) },
		"another namespace": func(i uint64) *Event { return labelled(i, "b", "y", nil, nil, nil, nil) },
		"the namespace":     func(i uint64) *Event { return labelled(i, "a", "y", nil, nil, nil, nil) },
		"the name":          func(i uint64) *Event { return labelled(i, "b", "x", nil, nil, nil, nil) },
		"the field":         func(i uint64) *Event { return labelled(i, "b", "y", nil, node, nil, nil) },
		"the field before":  func(i uint64) *Event { return labelled(i, "b", "y", nil, nil, nil, node) },
		"the label":         func(i uint64) *Event { return labelled(i, "b", "y", app, nil, nil, nil) },
		"the label before":  func(i uint64) *Event { return labelled(i, "b", "y", nil, nil, app, nil) },
		"other values": func(i uint64) *Event {
			return labelled(i, "b", "y", map[string]string{"app": "db"}, map[string]string{"spec.nodeName": "n2"}, nil, nil)
		},
		"an unknown content": func(i uint64) *Event {
			e := event(i, state.NewKey("pods", "b", "y"), 1)
			e.PreviousUnknown = true
			return e
		},
	}
	interests := map[string]struct {
		in   Interest
		meet []string
	}{
		"everything": {Everything(), []string{"another namespace", "the namespace", "the name", "the field", "the field before", "the label", "the label before", "other values"}},
		"namespace":  {Everything().In("a"), []string{"the namespace"}},
		"name":       {Named("x"), []string{"the name"}},
		"field":      {WithField("spec.nodeName", "n1"), []string{"the field", "the field before"}},
		"label":      {WithLabel("app", "web"), []string{"the label", "the label before"}},
		"any of":     {WithLabel("app", "web").In(""), []string{"the label", "the label before"}},
		"label in":   {WithLabel("app", "web").In("b"), []string{"the label", "the label before"}},
		"field in":   {WithField("spec.nodeName", "n1").In("b"), []string{"the field", "the field before"}},
		"name in":    {Named("x").In("b"), []string{"the name"}},
		"label of":   {WithLabel("app", "web").In("a"), nil},
		"field of":   {WithField("spec.nodeName", "n1").In("a"), nil},
		"name of":    {Named("x").In("a"), nil},
	}
	for name, tc := range interests {
		t.Run(name, func(t *testing.T) {
			hub, _ := newHub(t, Config{})
			l, _ := hub.Listen("pods")
			l.Add(tc.in)
			met := map[string]bool{"an unknown content": true}
			for _, m := range tc.meet {
				met[m] = true
			}
			var index uint64
			for what, make := range events {
				index++
				hub.Append(index, []*Event{make(index)})
				if woken := listening(l); woken != met[what] {
					t.Errorf("%s: woken %v", what, woken)
				}
				quiet := index
				if met[what] {
					quiet--
				}
				if q := l.Quiet(); q != quiet {
					t.Errorf("%s: quiet up to %d, expected %d", what, q, quiet)
				}
				if q := l.Take(); q != quiet || l.Quiet() != index {
					t.Errorf("%s: took up to %d, expected %d, and is quiet up to %d", what, q, quiet, l.Quiet())
				}
			}
			l.Remove(tc.in)
			hub.Append(100, []*Event{labelled(100, "a", "x", app, node, app, node)})
			if listening(l) || len(hub.listening) > 0 {
				t.Error("the hub keeps a listener without interests")
			}
		})
	}
}

// The index up to which nothing concerns a listener is that before the first event that does.
func TestListener_takes_from_the_first_event_that_concerns_it(t *testing.T) {
	hub, _ := newHub(t, Config{})
	l, changes := hub.Listen("pods")
	l.Add(Everything().In("a"))
	l.Add(Everything().In("c"))
	hub.Append(4, []*Event{event(1, pod("b"), 1), event(2, pod("a"), 1), event(3, pod("c"), 1), event(4, pod("b"), 1)})
	if q := l.Take(); q != 1 {
		t.Errorf("quiet up to %d", q)
	}
	changes.Skip(1)
	if events, reached := changes.Poll(); !reached || len(events) != 3 {
		t.Errorf("%v, %v", indexes(events), reached)
	}
	hub.Append(9, []*Event{event(9, pod("b"), 1)})
	if q := l.Take(); q != 9 {
		t.Errorf("quiet up to %d", q)
	}
}

// A history that begins anew, or ends, concerns every listener: nothing before it is known.
func TestListener_is_woken_when_history_begins_anew_or_ends(t *testing.T) {
	hub, _ := newHub(t, Config{})
	l, changes := hub.Listen("pods")
	l.Add(Everything().In("a"))
	hub.Append(3, nil)
	l.Take()
	hub.Reset(50, 50)
	if !listening(l) || l.Quiet() != 0 || l.Take() != 0 {
		t.Error("the listener takes the gap for quiet")
	}
	if _, reached := changes.Poll(); reached {
		t.Error("the cursor is beyond the gap")
	}
	hub.Close()
	if !listening(l) {
		t.Error("the listener waits for a hub that is closed")
	}
}

// A listener outlives the topic of its resource, which the hub may drop and make again.
func TestListener_follows_its_resource(t *testing.T) {
	hub, _ := newHub(t, Config{MaxTopics: 1})
	l, changes := hub.Listen("pods")
	l.Add(Everything())
	hub.Watch(state.ResourcePrefix("nodes"), 0)
	hub.Append(1, nil)
	if !changes.topic.view.Load().retired {
		t.Fatal("the hub forgot nothing")
	}
	hub.Append(2, []*Event{event(2, pod("a"), 1)})
	if events, reached := changes.Poll(); !listening(l) || !reached || len(events) != 1 {
		t.Fatalf("%v, %v", indexes(events), reached)
	}
}

// Await ends with an event or with its context, and counts as a waiting cursor.
func TestListener_await_ends_like_next(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, metric := newHub(t, Config{})
		l, _ := hub.Listen("pods")
		l.Add(Everything())
		ctx, cancel := context.WithCancel(t.Context())
		for _, end := range []func(){func() { hub.Append(1, run(1, 1, 1)) }, cancel} {
			done := make(chan struct{})
			go func() { l.Await(ctx); close(done) }()
			synctest.Wait()
			if n := metric("cursors_waiting"); n != 1 {
				t.Errorf("%v cursors wait", n)
			}
			end()
			<-done
			if n := metric("cursors_waiting"); n != 0 {
				t.Errorf("%v cursors wait after the end", n)
			}
		}
	})
}

// The index finds the same values as a look at each of them, whatever is added and removed.
func TestIndex_finds_what_a_scan_finds(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 3))
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	pair := func() map[string]string {
		if random.IntN(2) == 0 {
			return nil
		}
		return map[string]string{pick("k", "l"): pick("1", "2", "")}
	}
	interest := func() Interest {
		return []Interest{
			Everything(), Named(pick("x", "y")), WithField(pick("k", "l"), pick("1", "2")), WithLabel(pick("k", "l"), pick("1", "2")),
		}[random.IntN(4)].In(pick("a", "b", ""))
	}
	meets := func(e *Event, i Interest) bool {
		_, namespace, name := e.Object.Key.Split()
		has := func(of func(o *state.Object) state.Attributes) bool {
			for _, o := range []*state.Object{e.Object, e.Previous} {
				if o != nil {
					if v, ok := of(o).Get(i.name); ok && v == i.value {
						return true
					}
				}
			}
			return false
		}
		if i.namespace != "" && i.namespace != namespace {
			return false
		}
		switch i.property {
		case nameIs:
			return name == i.value
		case fieldIs:
			return has(func(o *state.Object) state.Attributes { return o.Fields })
		case labelIs:
			return has(func(o *state.Object) state.Attributes { return o.Labels })
		default:
			return true
		}
	}
	var index Index[int]
	kept := map[int]Interest{}
	for step := range 20_000 {
		v := random.IntN(12)
		if i, ok := kept[v]; ok {
			index.Remove(i, v)
			delete(kept, v)
		} else {
			kept[v] = interest()
			index.Add(kept[v], v)
		}
		var events []*Event
		for i := range random.IntN(3) {
			events = append(events, labelled(uint64(i+1), pick("a", "b"), pick("x", "y"), pair(), pair(), pair(), pair()))
		}
		found := map[int]int{}
		index.Concerned(events, func(_ *Event, v int) { found[v]++ })
		for v, i := range kept {
			expected := 0
			for _, e := range events {
				if meets(e, i) {
					expected = 1
				}
			}
			if found[v] != expected {
				t.Fatalf("step %d: %v found %d times, expected %d", step, i, found[v], expected)
			}
			delete(found, v)
		}
		if len(found) > 0 || index.Empty() != (len(kept) == 0) {
			t.Fatalf("step %d: %s", step, fmt.Sprint(found))
		}
	}
}
