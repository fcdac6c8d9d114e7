package check_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// size is that of a made-up run.
type size struct {
	clients, keys, steps, watchers int
	unknown                        float64 // the part of operations whose outcome isn't told
	lists                          int     // one of so many operations is a list
	maxLate                        int     // how late a write may be done whose client gave up
	mayExpire                      bool    // positions of watchers
	steady                         bool    // nodes never start again
	apart                          bool    // each user writes keys of its own
}

// user is a client that does one thing after another.
type user struct {
	*simulation
	id    int
	steps int
	knows map[string]history.Item
}

// simulation makes a history of users on a store.
type simulation struct {
	size
	*store
	record *history.Record
	values int
	busy   int // users
}

// simulate returns the history of a run in which all is right.
func simulate(seed uint64, of size) *history.Record {
	r := rand.New(rand.NewPCG(seed, 0))
	s := &simulation{size: of, store: newStore(r, 3), record: &history.Record{Start: 100}}
	s.store.steady = of.steady
	for id := range of.clients {
		u := &user{simulation: s, id: id, steps: of.steps, knows: map[string]history.Item{}}
		s.busy++
		s.after(s.some(20), u.next)
	}
	s.run()
	for w := range of.watchers {
		s.watch(of.clients + w)
	}
	s.version += uint64(s.rand.IntN(2))
	for _, node := range s.nodes {
		node.follow(s.log, len(s.log))
		s.record.Finals = append(s.record.Finals, history.Final{Node: node.name, Version: s.version, Items: items(node.objects)})
		s.record.Checksums.Nodes = append(s.record.Checksums.Nodes, client.Checksum{Name: node.name, Checksum: "same"})
	}
	return s.record
}

// next begins the user's next operation, or ends the user.
func (u *user) next() {
	if u.steps == 0 {
		u.busy--
		if u.busy == 0 {
			u.record.End = u.version
		}
		return
	}
	u.steps--
	op := u.choose()
	op.Invoked = u.now
	if op.Kind.IsWrite() && u.rand.Float64() < u.unknown {
		u.doubt(op)
		return
	}
	u.after(u.some(12), func() {
		if op.Kind == history.CachedGet || op.Kind == history.CachedList {
			op = u.node(op.Node).cached(op)
		} else {
			op = u.do(op)
		}
		u.after(u.some(12), func() { u.answer(op) })
	})
}

// doubt lets an operation be done soon, late or never, and the user give it up at some time.
func (u *user) doubt(op history.Op) {
	if u.rand.IntN(3) > 0 {
		late := 12
		if u.rand.IntN(2) == 0 {
			late = u.maxLate
		}
		u.after(u.some(late), func() { u.do(op) })
	}
	u.after(u.some(24), func() {
		op.Outcome = client.Unknown
		u.answer(op)
	})
}

// answer ends an operation.
func (u *user) answer(op history.Op) {
	op.Answered = u.now
	u.record.Ops = append(u.record.Ops, op)
	if op.Got.Version != 0 {
		u.knows[op.Key] = op.Got
	}
	for _, item := range op.Items {
		u.knows[item.Key] = item
	}
	if op.Outcome == client.NotFound || op.Outcome == client.OK && op.Kind == history.Delete {
		delete(u.knows, op.Key)
	}
	u.after(u.some(8), u.next)
}

// choose is what a user does next, as far as it knows what is there.
func (u *user) choose() history.Op {
	op := history.Op{Client: u.id, Node: u.nodes[u.rand.IntN(len(u.nodes))].name, Key: fmt.Sprintf("k%d", u.rand.IntN(u.keys))}
	if u.rand.IntN(u.lists) == 0 {
		op.Key = ""
		op.Kind = []history.Kind{history.List, history.PagedList, history.CachedList}[u.rand.IntN(3)]
		return op
	}
	n := u.rand.IntN(10)
	if u.apart && n >= 4 {
		op.Key = fmt.Sprintf("k%d", u.rand.IntN((u.keys-u.id-1)/u.clients+1)*u.clients+u.id)
	}
	known, knows := u.knows[op.Key]
	switch {
	case n < 2:
		op.Kind = history.Get
	case n < 4:
		op.Kind = history.CachedGet
	case !knows || n == 4:
		op.Kind = history.Create
	case n < 8:
		op.Kind, op.Expect = history.Replace, known
	default:
		op.Kind, op.Expect = history.Delete, known
	}
	if op.Kind == history.Create || op.Kind == history.Replace {
		u.values++
		op.Value = fmt.Sprintf("v%d", u.values)
	}
	return op
}

func (u *user) node(name string) *replica {
	for _, node := range u.nodes {
		if node.name == name {
			return node
		}
	}
	panic("no node " + name)
}

// watch adds a watcher that received all changes, at least up to the end.
func (s *simulation) watch(id int) {
	w := history.Watch{Client: id, After: s.record.Start, Reached: s.record.Start, Streams: 1}
	var at time.Duration
	for _, change := range s.log {
		version := change.event.Item.Version
		if version > s.record.End && s.rand.IntN(3) == 0 {
			break
		}
		if s.mayExpire && version <= s.record.End && s.rand.IntN(30) == 0 {
			w.Expired, w.Reached = &history.Expiry{Node: s.nodes[0].name, At: at}, version-1
			s.record.Watches = append(s.record.Watches, w)
			w = history.Watch{Client: id, After: version, Streams: 1} // its list shows this change
			continue
		}
		event := change.event
		at = max(at, change.at) + s.some(3)
		event.Arrived, event.Node = at, s.nodes[s.rand.IntN(len(s.nodes))].name
		w.Events = append(w.Events, event)
		w.Reached = version
	}
	w.Reached = max(w.Reached, s.record.End)
	s.record.Watches = append(s.record.Watches, w)
}
