package check_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quorate/chaos/check"
	"quorate/chaos/client"
	"quorate/chaos/history"
)

// searchTimeout is how long a history may be searched for another order: what is expected must be
// found without that.
const searchTimeout = 100 * time.Millisecond

// flaw breaks one rule in a history in which all is right.
type flaw struct {
	name   string
	breaks check.Promise
	// make breaks the rule somewhere, and reports whether the history has a place for that.
	make func(h *past) bool
}

func (f flaw) String() string { return f.name }

// past is a history about to be flawed.
type past struct {
	*history.Record
	*rand.Rand
	changes []history.Event // all, by version
}

func newPast(seed uint64, of size) *past {
	h := &past{Record: simulate(seed, of), Rand: rand.New(rand.NewPCG(seed, 1))}
	h.changes = append(h.changes, h.Watches[0].Events...)
	return h
}

// TestWrongHistories breaks each rule in many histories: the check that is meant for it must find
// that.
func TestWrongHistories(t *testing.T) {
	const histories, enough = 60, 5
	flaws := append(append(wrongWrites(), wrongReads()...), wrongWatches()...)
	for _, flaw := range flaws {
		t.Run(flaw.name, func(t *testing.T) {
			t.Parallel()
			made := 0
			for seed := range uint64(histories) {
				h := newPast(seed, size{
					clients: 2 + int(seed%9), keys: 1 + int(seed%4), steps: 50, watchers: 1 + int(seed%3),
					unknown: []float64{0, 0.05, 0.2}[seed%3], lists: 4 + int(seed%9), maxLate: 200,
				})
				if !flaw.make(h) {
					continue
				}
				made++
				v := check.All(t.Context(), h.Record, check.Options{Timeout: searchTimeout})
				if v.OK() {
					t.Fatalf("seed %d: nothing was found", seed)
				}
				if count(v, flaw.breaks) == 0 {
					t.Fatalf("seed %d: not found under %q, but %s", seed, flaw.breaks, found(v))
				}
			}
			if made < enough {
				t.Errorf("only %d of %d histories had a place for it", made, histories)
			}
		})
	}
}

// TestRandomFlaws makes any of the flaws in any history.
func TestRandomFlaws(t *testing.T) {
	flaws := append(append(wrongWrites(), wrongReads()...), wrongWatches()...)
	rapid.Check(t, func(t *rapid.T) {
		flaw := rapid.SampledFrom(flaws).Draw(t, "flaw")
		h := newPast(rapid.Uint64().Draw(t, "seed"), size{
			clients: rapid.IntRange(1, 12).Draw(t, "clients"), keys: rapid.IntRange(1, 6).Draw(t, "keys"), steps: 60,
			watchers: rapid.IntRange(1, 4).Draw(t, "watchers"), unknown: rapid.SampledFrom([]float64{0, 0.05, 0.2}).Draw(t, "unknown"),
			lists: rapid.IntRange(3, 20).Draw(t, "lists"), maxLate: rapid.SampledFrom([]int{20, 200}).Draw(t, "late"),
		})
		if len(h.changes) < 3 || !flaw.make(h) {
			t.Skip("no place for it")
		}
		v := check.All(t.Context(), h.Record, check.Options{Timeout: searchTimeout})
		if v.OK() || count(v, flaw.breaks) == 0 {
			t.Fatalf("%s: not found under %q, but %s", flaw.name, flaw.breaks, found(v))
		}
	})
}

func count(v *check.Verdict, p check.Promise) int {
	for _, f := range v.Findings {
		if f.Promise == p {
			return f.Count
		}
	}
	return 0
}

func found(v *check.Verdict) (text string) {
	for _, f := range v.Findings {
		if f.Count > 0 {
			text += "\n" + string(f.Promise) + ": " + f.Samples[0]
		}
	}
	return text + "\nlinearizable: " + string(v.Linearizable)
}

// any returns one of the operations that satisfy all conditions, nil if there is none.
func (h *past) any(conditions ...func(*history.Op) bool) *history.Op {
	var fit []*history.Op
next:
	for i := range h.Ops {
		for _, condition := range conditions {
			if !condition(&h.Ops[i]) {
				continue next
			}
		}
		fit = append(fit, &h.Ops[i])
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[h.IntN(len(fit))]
}

func is(kinds ...history.Kind) func(*history.Op) bool {
	return func(op *history.Op) bool {
		for _, kind := range kinds {
			if op.Kind == kind {
				return true
			}
		}
		return false
	}
}

func told(outcome client.Outcome) func(*history.Op) bool {
	return func(op *history.Op) bool { return op.Outcome == outcome }
}

// change is the change of a key at a version, nil if there is none.
func (h *past) change(version uint64) *history.Event {
	for i := range h.changes {
		if h.changes[i].Item.Version == version {
			return &h.changes[i]
		}
	}
	return nil
}

// after are the changes of a key after a version.
func (h *past) after(key string, version uint64) (events []history.Event) {
	for _, event := range h.changes {
		if event.Item.Key == key && event.Item.Version > version {
			events = append(events, event)
		}
	}
	return events
}

// older returns a version of the key before the given one that had an object, the zero Item if
// there is none.
func (h *past) older(key string, version uint64) (item history.Item) {
	for _, event := range h.changes {
		if event.Item.Key == key && event.Item.Version < version && event.Type != "DELETED" && (item.Version == 0 || h.IntN(2) == 0) {
			item = event.Item
		}
	}
	return item
}

// append lets something happen after all else, on all nodes and for all watchers.
func (h *past) append(event history.Event) {
	event.Item.Version = h.Finals[0].Version + 1
	for i := range h.Ops {
		event.Arrived = max(event.Arrived, h.Ops[i].Answered+1)
	}
	for i := range h.Watches {
		h.Watches[i].Events = append(h.Watches[i].Events, event)
		h.Watches[i].Reached = event.Item.Version
	}
	h.End = event.Item.Version
	for i := range h.Finals {
		h.Finals[i].Version = event.Item.Version
		h.final(i, event)
	}
}

// final changes what a node has in the end.
func (h *past) final(node int, event history.Event) {
	objects := map[string]history.Item{}
	for _, item := range h.Finals[node].Items {
		objects[item.Key] = item
	}
	apply(objects, event.Type, event.Item)
	h.Finals[node].Items = items(objects)
}

// everywhere does something to the event of a version at every watcher; it is dropped if edit says
// so.
func (h *past) everywhere(version uint64, edit func(*history.Event) (drop bool)) {
	for i := range h.Watches {
		w := &h.Watches[i]
		kept := w.Events[:0]
		for _, event := range w.Events {
			if event.Item.Version != version || !edit(&event) {
				kept = append(kept, event)
			}
		}
		w.Events = kept
	}
}
