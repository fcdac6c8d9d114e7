package check_test

import (
	"container/heap"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// task is something that happens at a moment of the made-up time.
type task struct {
	at    time.Duration
	order int // of tasks at one moment
	do    func()
}

type tasks []task

func (t tasks) Len() int { return len(t) }
func (t tasks) Less(i, j int) bool {
	return t[i].at < t[j].at || t[i].at == t[j].at && t[i].order < t[j].order
}
func (t tasks) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *tasks) Push(x any)   { *t = append(*t, x.(task)) }
func (t *tasks) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

// applied is a change of the store and when it happened.
type applied struct {
	event history.Event
	at    time.Duration
}

// replica is a node that follows the store, some changes behind.
type replica struct {
	name       string
	done       int // changes
	version    uint64
	objects    map[string]history.Item
	connection int
}

// store is a linearizable store with versions, and nodes that follow it. Every change happens at
// one moment of a made-up time.
type store struct {
	rand    *rand.Rand
	now     time.Duration
	queue   tasks
	order   int
	version uint64
	objects map[string]history.Item
	log     []applied
	nodes   []*replica
	uids    int
	// steady nodes never start again.
	steady bool
}

func newStore(r *rand.Rand, nodes int) *store {
	s := &store{rand: r, version: 100, objects: map[string]history.Item{}}
	for n := range nodes {
		s.nodes = append(s.nodes, &replica{name: fmt.Sprintf("n%d", n+1), version: 100, objects: map[string]history.Item{}})
	}
	return s
}

// after does something later.
func (s *store) after(d time.Duration, do func()) {
	s.order++
	heap.Push(&s.queue, task{s.now + d, s.order, do})
}

// run lets time go on until nothing is left to do.
func (s *store) run() {
	for len(s.queue) > 0 {
		next := heap.Pop(&s.queue).(task)
		s.now = next.at
		next.do()
	}
}

// some is a duration below a bound: few values, so that many things happen at one moment.
func (s *store) some(below int) time.Duration { return time.Duration(s.rand.IntN(below)) }

// do executes an operation at this moment and returns the response of its client.
func (s *store) do(op history.Op) history.Op {
	had, exists := s.objects[op.Key]
	expected := exists && had.UID == op.Expect.UID && had.Version == op.Expect.Version
	switch op.Kind {
	case history.Create:
		if exists {
			op.Outcome = client.Conflict
			return op
		}
		s.uids++
		op.Got = s.put("ADDED", history.Item{Key: op.Key, UID: fmt.Sprintf("u%d", s.uids), Value: op.Value})
	case history.Replace, history.Delete:
		switch {
		case !exists:
			op.Outcome = client.NotFound
		case !expected:
			op.Outcome = client.Conflict
		case op.Kind == history.Replace:
			op.Got = s.put("MODIFIED", history.Item{Key: op.Key, UID: had.UID, Value: op.Value})
		default:
			s.put("DELETED", had)
			op.Got = history.Item{Key: op.Key, UID: had.UID}
		}
	case history.Get:
		find(&op, s.objects)
	case history.List, history.PagedList:
		op.Items, op.Version = items(s.objects), s.version
	}
	return op
}

// cached answers from a node's own state.
func (r *replica) cached(op history.Op) history.Op {
	op.Connection = r.connection
	if op.Kind == history.CachedList {
		op.Items, op.Version = items(r.objects), r.version
		return op
	}
	find(&op, r.objects)
	return op
}

func find(op *history.Op, objects map[string]history.Item) {
	if item, exists := objects[op.Key]; exists {
		op.Got = item
	} else {
		op.Outcome = client.NotFound
	}
}

func items(objects map[string]history.Item) []history.Item {
	list := make([]history.Item, 0, len(objects))
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		list = append(list, objects[key])
	}
	return list
}

// put makes a change; others elsewhere take versions too.
func (s *store) put(event string, item history.Item) history.Item {
	s.version += 1 + uint64(s.rand.IntN(3))
	item.Version = s.version
	apply(s.objects, event, item)
	s.log = append(s.log, applied{history.Event{Type: event, Item: item}, s.now})
	s.after(s.some(20), s.follow)
	return item
}

func apply(objects map[string]history.Item, event string, item history.Item) {
	if event == "DELETED" {
		delete(objects, item.Key)
	} else {
		objects[item.Key] = item
	}
}

// follow lets some node make some of the changes that it lacks. Now and then a node starts again
// from an older state.
func (s *store) follow() {
	node := s.nodes[s.rand.IntN(len(s.nodes))]
	if !s.steady && s.rand.IntN(40) == 0 {
		*node = replica{name: node.name, version: 100, objects: map[string]history.Item{}, connection: node.connection + 1}
	}
	node.follow(s.log, node.done+s.rand.IntN(len(s.log)-node.done+1))
}

func (r *replica) follow(log []applied, upTo int) {
	for ; r.done < upTo; r.done++ {
		change := log[r.done].event
		apply(r.objects, change.Type, change.Item)
		r.version = change.Item.Version
	}
}
