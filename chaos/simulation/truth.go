package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"quorate/raftstore/fsm"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// truth is what no single node knows: the order of the committed entries, the state that a naive
// state machine makes of them, and the leader of each term. The simulation compares the results of
// the nodes with it.
type truth struct {
	w         *World
	leaders   map[uint64]string    // by term
	made      map[[2]uint64]*entry // by index and term
	committed []*entry
	during    []uint64 // the term in which each was committed

	position  uint64 // of the naive state machine
	objects   map[state.Key]thing
	clusterID string
	events    []happened
	refused   map[uint64]string // what for, by index
	sums      map[uint64]uint64 // checksums of states, by index
	departed  map[string]uint64 // the last start that was removed, by node id
}

// thing is a stored object.
type thing struct {
	version, created   uint64
	value, uid, labels string
	sealed             bool
}

// happened is an event that watchers must receive.
type happened struct {
	index uint64
	kind  history.Type
	key   state.Key
	thing
	before string // the value as it left a selector, of an update or delete that changed labels
}

func newTruth(w *World) truth {
	return truth{
		w: w, leaders: map[uint64]string{}, made: map[[2]uint64]*entry{},
		objects: map[state.Key]thing{}, refused: map[uint64]string{}, sums: map[uint64]uint64{}, departed: map[string]uint64{},
	}
}

// elected checks that a term has only one leader, and that it has every entry committed in earlier
// terms.
func (t *truth) elected(p *process) {
	if other, taken := t.leaders[p.term]; taken {
		t.w.violate("model: %s and %s were both elected for term %d", other, p.node.name, p.term)
	}
	t.leaders[p.term] = p.node.name
	for i, e := range t.committed {
		if t.during[i] < p.term && e.Index > p.base && p.at(e.Index) != e {
			t.w.violate("committed writes are lost: %s leads term %d without entry %d of term %d", p.node.name, p.term, e.Index, e.Term)
			return
		}
	}
}

func (t *truth) proposed(e *entry) {
	id := [2]uint64{e.Index, e.Term}
	if t.made[id] != nil {
		t.w.violate("model: two entries are %d of term %d", e.Index, e.Term)
	}
	t.made[id] = e
	t.w.counts.Entries++
}

// commit checks that all nodes commit the same entries.
func (t *truth) commit(p *process, e *entry) {
	last := uint64(len(t.committed))
	switch {
	case e.Index == last+1:
		t.committed, t.during = append(t.committed, e), append(t.during, p.term)
		if id := e.departs.NodeID; id != "" {
			t.departed[id] = max(t.departed[id], e.departs.Start)
		}
	case e.Index > last+1:
		t.w.violate("model: %s commits entry %d, and nobody has committed %d", p.node.name, e.Index, last+1)
	case t.committed[e.Index-1] != e:
		t.w.violate("committed writes are lost: entry %d is committed for terms %d and %d", e.Index, t.committed[e.Index-1].Term, e.Term)
	}
}

// acknowledged checks that a write which is acknowledged to its client is committed.
func (t *truth) acknowledged(e *entry) {
	t.w.counts.Acknowledged++
	if e.Index > uint64(len(t.committed)) || t.committed[e.Index-1] != e {
		t.w.violate("a write is acknowledged as entry %d, which is another one, or none", e.Index)
	}
}

// advance makes the naive state machine apply the entries up to an index. It reports whether that
// was the last of those applied.
func (t *truth) advance(to uint64) (first bool) {
	for t.position < to {
		t.position++
		first = true
		e := t.committed[t.position-1]
		if e.write == nil {
			continue
		}
		if refusal := t.do(e.Index, e.write); refusal != "" {
			t.refused[e.Index] = refusal
		}
	}
	return first && t.position == to
}

// do applies a write and returns the reason for which it is refused, or "".
func (t *truth) do(index uint64, w *write) (refusal string) {
	have, exists := t.objects[w.key]
	made := thing{
		version: index, created: index, value: strings.Replace(w.value, "%", fmt.Sprint(index), 1),
		uid: w.made, labels: w.labels, sealed: w.sealed,
	}
	event := happened{index: index, key: w.key}
	switch w.op {
	case opInit:
		if t.clusterID == "" {
			t.clusterID = w.value
		}
		return ""
	case opPin:
		return ""
	case opCreate:
		guard, guarded := t.objects[w.guard]
		switch {
		case w.guard != "" && (!guarded || guard.sealed):
			return fmt.Sprintf("guard sealed=%v", guarded)
		case exists:
			return "exists"
		}
		event.kind = history.Added
	default:
		switch {
		case !exists:
			return "missing"
		case w.uid != "" && w.uid != have.uid:
			return "uid"
		case w.version != have.version:
			return fmt.Sprintf("conflict with %d", have.version)
		}
		made.created = have.created
		event.kind = history.Modified
		if w.relabels {
			event.before = strings.Replace(have.value, fmt.Sprintf(`"%d"`, have.version), fmt.Sprintf(`"%d"`, index), 1)
		}
	}
	if t.objects[w.key] = made; w.op == opDelete {
		event.kind = history.Deleted
		delete(t.objects, w.key)
	}
	event.thing = made
	t.events = append(t.events, event)
	return ""
}

// applied compares the responses of a node's state machine with the truth, and at checkpoints its
// state.
func (t *truth) applied(p *process, entries []*entry, answers []any) {
	if p.applied > uint64(len(t.committed)) {
		t.w.violate("%s applies up to %d, and only %d are committed", p.node.name, p.applied, len(t.committed))
		return
	}
	first := t.advance(p.applied)
	for i, e := range entries {
		refusal, _ := answers[i].(error)
		if have, want := refusalName(refusal), t.refused[e.Index]; have != want {
			t.w.violate("%s refuses entry %d because %q, not because %q", p.node.name, e.Index, have, want)
		}
		if refusal != nil {
			t.w.counts.Refused++
		}
	}
	if p.applied%checkpoint != 0 {
		return
	}
	root := p.applier.Root()
	if first && p.applied%(4*checkpoint) == 0 {
		t.compare(p, root, t.objects)
	}
	t.sum(p, root)
}

// restored checks that the state read from a snapshot is that of the applied entries.
func (t *truth) restored(p *process) { t.sum(p, p.applier.Root()) }

// sum checks that all nodes have the same state after an entry, to the byte of a snapshot.
func (t *truth) sum(p *process, root *state.Root) {
	t.w.counts.Checksums++
	sum := fsm.Checksum(root)
	if want, known := t.sums[root.Index()]; known && want != sum {
		t.w.violate("the state of %s after entry %d is not that of others", p.node.name, root.Index())
	}
	t.sums[root.Index()] = sum
}

// compare compares a state with that of the truth.
func (t *truth) compare(p *process, root *state.Root, objects map[state.Key]thing) {
	if root.Len() != len(objects) {
		t.w.violate("%s has %d objects after entry %d, not %d", p.node.name, root.Len(), root.Index(), len(objects))
	}
	root.Ascend("", "", func(o *state.Object) bool {
		if have, want := thingOf(o), objects[o.Key]; have != want {
			t.w.violate("%s has %+v at %q after entry %d, not %+v", p.node.name, have, o.Key, root.Index(), want)
			return false
		}
		return true
	})
}

func thingOf(o *state.Object) thing {
	return thing{
		version: o.Version, created: o.Created, value: string(o.Value), uid: o.UID, labels: string(o.Labels), sealed: o.Sealed,
	}
}

// stateAt returns the objects after an entry.
func (t *truth) stateAt(index uint64) map[state.Key]thing {
	objects := map[state.Key]thing{}
	for _, e := range t.events {
		if e.index > index {
			break
		}
		if objects[e.key] = e.thing; e.kind == history.Deleted {
			delete(objects, e.key)
		}
	}
	return objects
}

// upTo returns the number of events up to a position.
func (t *truth) upTo(position uint64) int {
	i, found := slices.BinarySearchFunc(t.events, position, func(e happened, position uint64) int { return int(e.index) - int(position) })
	if found {
		i++
	}
	return i
}

// lastUpTo returns the index of the last event up to a position, 0 if there is none.
func (t *truth) lastUpTo(position uint64) uint64 {
	if n := t.upTo(position); n > 0 {
		return t.events[n-1].index
	}
	return 0
}

// after returns the first event of a collection after a position, or nil.
func (t *truth) after(position uint64, p state.Prefix) *happened {
	for i := t.upTo(position); i < len(t.events); i++ {
		if p.Covers(t.events[i].key) {
			return &t.events[i]
		}
	}
	return nil
}

func sortedKeys[V any](m map[uint64]V) []uint64 { return slices.Sorted(maps.Keys(m)) }
