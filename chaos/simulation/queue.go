package simulation

import (
	"container/heap"
	"time"
)

// event is an action at a time: of a process, unless it has ended by then, or of the world.
type event struct {
	at  time.Time
	tie uint64 // random: the order of what happens at the same time
	to  *process
	do  func()
}

// queue is a heap of events, the next one first.
type queue []event

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(event)) }

func (q queue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].tie < q[j].tie
	}
	return q[i].at.Before(q[j].at)
}

func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = event{}
	*q = old[:len(old)-1]
	return last
}

func (q *queue) add(e event)  { heap.Push(q, e) }
func (q *queue) next() event  { return heap.Pop(q).(event) }
func (q queue) empty() bool   { return len(q) == 0 }
func (q queue) first() *event { return &q[0] }
