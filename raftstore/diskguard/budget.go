package diskguard

import (
	"math"
	"slices"
	"sync/atomic"

	"quorate/raftstore/failure"
)

// room is how many bytes the disk of a voter can take: before the leader refuses writes, and before
// deletions wait. The latter is the larger one.
type room struct{ writes, deletions int64 }

// unlimited is the room of a voter that reports none.
func unlimited() room { return room{math.MaxInt64, math.MaxInt64} }

// of returns the room for deletions, or for other writes.
func (r room) of(frees bool) int64 {
	if frees {
		return r.deletions
	}
	return r.writes
}

// budget is how much of the disks of a quorum, which includes the leader, may be used until the
// voters report again. Reports are rarer than writes: without a budget, large writes would use up
// the whole reserve between two of them.
type budget struct {
	voters            []voterLevel
	writes, deletions atomic.Int64  // bytes left
	replaced          chan struct{} // closed when the next reports have arrived
}

// newBudget returns the budget after reports of the voters. spent is what they may not have
// included in their reports. A voter of unknown level has room unless another is known to lack
// space, as in assess.
func newBudget(own string, voters []voterLevel, spent int64) *budget {
	b := &budget{voters: voters, replaced: make(chan struct{})}
	short := assess(own, voters) != nil
	least := func(frees bool) int64 {
		var rooms []int64
		self := int64(math.MaxInt64)
		for _, v := range voters {
			room := v.room.of(frees)
			if v.level == unknownLevel {
				room = math.MaxInt64
				if short {
					room = 0
				}
			}
			if v.name == own {
				self = room
			}
			rooms = append(rooms, room)
		}
		if len(rooms) == 0 {
			return math.MaxInt64
		}
		slices.Sort(rooms)
		return min(self, rooms[(len(rooms)-1)/2]) // as many as a quorum have at least this
	}
	b.writes.Store(least(false) - spent)
	b.deletions.Store(least(true) - spent)
	return b
}

// take takes cost bytes from the budget and reports whether it had them. It always does for a nil
// budget.
func (b *budget) take(frees bool, cost int64) bool {
	if b == nil {
		return true
	}
	left, other := &b.writes, &b.deletions
	if frees {
		left, other = other, left
	}
	if left.Add(-cost) < 0 {
		left.Add(cost)
		return false
	}
	other.Add(-cost)
	return true
}

// next returns a channel that is closed when the next reports have arrived.
func (b *budget) next() <-chan struct{} {
	if b == nil { // there were none yet
		now := make(chan struct{})
		close(now)
		return now
	}
	return b.replaced
}

// refuse returns the error that names the voters without room for a write of cost bytes.
func (b *budget) refuse(frees bool, cost int64) error {
	full := &failure.FullError{}
	for _, v := range b.voters {
		if v.room.of(frees) < cost {
			full.Nodes = append(full.Nodes, v.name)
		}
	}
	if full.Nodes == nil { // each has room for this write, but not for all that are under way
		for _, v := range b.voters {
			full.Nodes = append(full.Nodes, v.name)
		}
	}
	slices.Sort(full.Nodes)
	return full
}
