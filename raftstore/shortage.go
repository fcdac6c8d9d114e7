package raftstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/leadership"
)

// verdict is what a leader does with writes while a voter has no space.
type verdict int

const (
	taken     verdict = iota // enough voters have space, this one among them
	elsewhere                // enough have, but not this one: leadership is on its way to one of them
	nowhere
)

// shortage is a leader's view of a cluster in which a voter has no space.
type shortage struct {
	full              []string // those voters
	writes, deletions verdict
}

// voterRoom is what a voter has.
type voterRoom struct {
	name string
	room room
}

// roomMemory is for how long a voter that does not answer counts as having the room that it last told of. A pause or a lost
// packet says nothing about a disk; but once a voter is down, writes need the disks of the others, full ones included.
const roomMemory = 10 * spaceInterval

// rooms remembers what voters told of their room.
type rooms map[string]toldRoom

type toldRoom struct {
	room room
	at   time.Time
}

// recall notes the answers, and fills in what those that did not answer told before, unless that is too long ago.
func (r rooms) recall(voters []voterRoom, now time.Time) {
	for i, v := range voters {
		if v.room != unknownRoom {
			r[v.name] = toldRoom{v.room, now}
		} else if told, ok := r[v.name]; ok && now.Sub(told.at) <= roomMemory {
			voters[i].room = told.room
		}
	}
}

// judgeShortage decides what a leader may do, nil for everything. Own is among the voters, if it is one. A voter whose room is
// unknown counts as without space, but only while another is known to have none: a busy network is no reason to refuse writes.
func judgeShortage(own string, voters []voterRoom) *shortage {
	view := &shortage{}
	for _, v := range voters {
		if v.room == noRoom || v.room == littleRoom {
			view.full = append(view.full, v.name)
		}
	}
	if view.full == nil {
		return nil
	}
	slices.Sort(view.full)
	judge := func(need room) verdict {
		able, self := 0, true
		for _, v := range voters {
			if v.room >= need {
				able++
			} else if v.name == own {
				self = false
			}
		}
		switch {
		case able < len(voters)/2+1:
			return nowhere
		case !self:
			return elsewhere
		}
		return taken
	}
	view.writes, view.deletions = judge(enoughRoom), judge(littleRoom)
	return view
}

// refuses says why a leader doesn't take up a write now; nil when it does.
func (v *shortage) refuses(c *command) *result {
	if v == nil || c.pins {
		return nil
	}
	verdict := v.writes
	if c.frees {
		verdict = v.deletions
	}
	var r result
	switch verdict {
	case taken:
		return nil
	case elsewhere:
		r = notApplied(fmt.Errorf("the leader's disk has no space: %w", ErrNotLeader))
	default:
		r = notApplied(&FullError{Nodes: v.full})
	}
	return &r
}

// followShortage asks the voters for their space while this node leads, and hands leadership to one that has some where this one has
// none, until ctx ends.
func (s *Store) followShortage(ctx context.Context) error {
	return s.WhileLeader(ctx, func(ctx context.Context) error {
		defer func() { // the next leader says
			s.shortage.Store(nil)
			s.metrics.readOnly.Set(0)
		}()
		ticker := time.NewTicker(spaceInterval)
		defer ticker.Stop()
		var handing handingOver
		told := rooms{}
		for {
			voters := s.askRoom(ctx)
			if ctx.Err() != nil {
				return nil
			}
			told.recall(voters, time.Now())
			s.noteShortage(judgeShortage(s.cfg.Name, voters))
			s.leadElsewhere(&handing, voters)
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	})
}

// noteShortage makes a view the present one, and says in the log when writes stop and go on.
func (s *Store) noteShortage(v *shortage) {
	before := s.shortage.Swap(v)
	stopped, stops := before != nil && before.writes == nowhere, v != nil && v.writes == nowhere
	s.metrics.readOnly.Set(indicator(stops))
	switch {
	case stops && !stopped:
		s.logger.Error("the cluster takes no more writes: too few voters have space on their disks", "full", strings.Join(v.full, ","))
	case stopped && !stops:
		s.logger.Info("writes are taken up again")
	}
}

// askRoom asks all voters at once.
func (s *Store) askRoom(ctx context.Context) []voterRoom {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.electionTimeout())
	defer cancel()
	others, voter := s.members.OtherVoters()
	answers := make(chan voterRoom, len(others))
	asked := 0
	for _, peer := range others {
		name, address := string(peer.ID), s.members.AddressOf(peer)
		if s.life.Go(func() { answers <- voterRoom{name, s.roomOf(ctx, name, address)} }) {
			asked++
		}
	}
	var all []voterRoom
	if voter {
		all = append(all, voterRoom{s.cfg.Name, s.ownRoom()})
	}
	for range asked {
		all = append(all, <-answers)
	}
	return all
}

func (s *Store) roomOf(ctx context.Context, name, address string) room {
	answer, err := s.peers.Alarms(ctx, name, address, s.ClusterID())
	switch {
	case err != nil:
		s.logger.Debug("space of a voter not known", "voter", name, "error", err)
		return unknownRoom
	case answer.GetExhausted():
		return noRoom
	case slices.ContainsFunc(answer.GetAlarms(), func(a *peerpb.Alarm) bool { return a.GetName() == string(NoSpace) && a.GetNode() == name }):
		return littleRoom
	}
	return enoughRoom
}

// handingOver remembers the attempts to lead elsewhere: one voter after the other, and not too often.
type handingOver struct {
	last  time.Time
	tried int
}

// leadElsewhere hands leadership to a voter with space when this node has none.
func (s *Store) leadElsewhere(h *handingOver, voters []voterRoom) {
	var heirs []string
	for _, v := range voters {
		if v.room == enoughRoom {
			heirs = append(heirs, v.name)
		}
	}
	if s.ownRoom() == enoughRoom || len(heirs) == 0 || time.Since(h.last) < leadership.TransferGrace(s.cfg.electionTimeout()) {
		return
	}
	slices.Sort(heirs)
	heir := heirs[h.tried%len(heirs)]
	h.tried++
	if err := s.leadership.Transfer(heir); err != nil {
		s.logger.Warn("leadership not handed over, though this node's disk has no space", "to", heir, "error", err)
	}
	h.last = time.Now()
}

// Alarms tells what is wrong with this node.
func (p rpc) Alarms(_ context.Context, req *peerpb.AlarmsRequest) (*peerpb.AlarmsResponse, error) {
	if r := p.admit(req.GetClusterId()); r != nil {
		return nil, status.Error(codes.FailedPrecondition, r.err.Error())
	}
	answer := &peerpb.AlarmsResponse{Exhausted: p.store.ownRoom() == noRoom}
	for _, a := range p.store.Alarms() {
		answer.Alarms = append(answer.Alarms, a.Proto())
	}
	return answer, nil
}
