package history

import (
	"container/list"
	"sync"
)

// turns bounds the cursors that read the log on disk at the same time. Others wait, and their
// owners take turns: when a read ends, the next one is of the next owner, and of its cursors the
// one that has waited longest. So an owner with thousands of cursors delays another's by one read.
type turns struct {
	atOnce  int
	mu      sync.Mutex
	free    int                      // of atOnce
	waiting list.List                // of *queue, none empty, the next one first
	queues  map[string]*list.Element // those in waiting, by owner
}

// queue holds the cursors of one owner that wait for a turn.
type queue struct {
	owner string
	waits list.List // of *wait
}

// wait is one cursor's wait for a turn.
type wait struct {
	turn  chan struct{} // closed when its turn has come
	owner string
	place *list.Element // in its queue; nil once its turn has come
}

func newTurns(atOnce int) *turns {
	return &turns{atOnce: atOnce, free: atOnce, queues: make(map[string]*list.Element)}
}

// begin returns nil if a turn has begun, which the caller must end. Otherwise the caller must wait
// for its turn, or leave.
func (t *turns) begin(owner string) *wait {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil
	}
	at := t.queues[owner]
	if at == nil {
		at = t.waiting.PushBack(&queue{owner: owner})
		t.queues[owner] = at
	}
	w := &wait{turn: make(chan struct{}), owner: owner}
	w.place = at.Value.(*queue).waits.PushBack(w)
	return w
}

// end ends a turn, and begins the next one.
func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next()
}

// next gives a turn that has ended to whoever is next. mu is held.
func (t *turns) next() {
	first := t.waiting.Front()
	if first == nil {
		t.free++
		return
	}
	w := first.Value.(*queue).waits.Front().Value.(*wait)
	t.remove(w)
	t.waiting.MoveToBack(first) // without effect if its queue is empty now
	close(w.turn)
}

// leave ends a wait, and also the turn if it has come meanwhile.
func (t *turns) leave(w *wait) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.place == nil {
		t.next()
		return
	}
	t.remove(w)
}

// remove removes a wait from its queue. mu is held.
func (t *turns) remove(w *wait) {
	at := t.queues[w.owner]
	q := at.Value.(*queue)
	q.waits.Remove(w.place)
	w.place = nil
	if q.waits.Len() == 0 {
		t.waiting.Remove(at)
		delete(t.queues, w.owner)
	}
}

// running returns the number of turns that have begun and not ended.
func (t *turns) running() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.atOnce - t.free
}
