package diskguard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/proto/peerpb"
	"quorate/raftstore/failure"
	"quorate/raftstore/forward"
	"quorate/raftstore/leadership"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/log"
	"quorate/raftstore/membership"
)

// decision is how a leader treats writes while a voter has no space.
type decision int

const (
	accept     decision = iota // a quorum has space, including the leader
	leaderFull                 // a quorum has space, but not the leader, which transfers leadership
	noQuorum                   // less than a quorum has space
)

// shortage is a leader's view of a cluster in which a voter has no space.
type shortage struct {
	full              []string // voters without space
	writes, deletions decision
}

// voterLevel is the level of one voter, its room, and the time of its appends.
type voterLevel struct {
	name       string
	level      level
	room       room
	appendTime time.Duration // 0: unknown
}

// How writes for which there is no room wait.
const (
	// deletionWait is how long a deletion waits for a smaller log. It should exceed the time that
	// large snapshots take.
	deletionWait = 10 * time.Second
	// writeWait is how long another write waits for reports of more room.
	writeWait = 2 * measureInterval
	// askPause is the least time between two requests to the voters, while writes wait for room.
	askPause = measureInterval / 10
)

// levelMemory is how long a voter that does not respond counts with the level that it reported
// last: a pause or a lost packet does not change its disk. After that, its level is unknown. While
// a voter is down, commits need the disks of the others, including full ones.
const levelMemory = 10 * measureInterval

// levels has the last level that each voter reported.
type levels map[string]report

type report struct {
	voterLevel
	at time.Time
}

// fillUnknown records the reported levels, and replaces each unknown level by the last reported
// one, unless that is older than levelMemory.
func (l levels) fillUnknown(voters []voterLevel, now time.Time) {
	for i, v := range voters {
		if v.level != unknownLevel {
			l[v.name] = report{v, now}
		} else if last, ok := l[v.name]; ok && now.Sub(last.at) <= levelMemory {
			voters[i] = last.voterLevel
			voters[i].appendTime = 0
		}
	}
}

// assess returns the shortage of a cluster, nil if no voter is known to lack space. own is this
// node's name. If one voter is known to lack space, a voter of unknown level counts as lacking
// space, too. Otherwise it does not: a busy network is no reason to refuse writes.
func assess(own string, voters []voterLevel) *shortage {
	view := &shortage{}
	for _, v := range voters {
		if v.level == exhausted || v.level == low {
			view.full = append(view.full, v.name)
		}
	}
	if view.full == nil {
		return nil
	}
	slices.Sort(view.full)
	decide := func(need level) decision {
		able, self := 0, true
		for _, v := range voters {
			if v.level >= need {
				able++
			} else if v.name == own {
				self = false
			}
		}
		switch {
		case able < len(voters)/2+1:
			return noQuorum
		case !self:
			return leaderFull
		}
		return accept
	}
	view.writes, view.deletions = decide(sufficient), decide(low)
	return view
}

// refuse returns why a leader refuses a write, nil if it accepts it.
func (v *shortage) refuse(frees bool) error {
	if v == nil {
		return nil
	}
	decision := v.writes
	if frees {
		decision = v.deletions
	}
	switch decision {
	case accept:
		return nil
	case leaderFull:
		return fmt.Errorf("the leader's disk has no space: %w", failure.ErrNotLeader)
	default:
		return &failure.FullError{Nodes: v.full}
	}
}

// Shortage decides which writes a leader accepts while voters have no space, and transfers
// leadership away from a node whose disk has no space or is slow. All methods are safe for
// concurrent use.
type Shortage struct {
	cfg        ShortageConfig
	readOnly   prometheus.Gauge
	waits      prometheus.Counter
	slowLeader prometheus.Counter
	view       atomic.Pointer[shortage] // nil while this node does not lead or all voters have space
	budget     atomic.Pointer[budget]   // nil while this node does not lead
	spent      atomic.Int64             // bytes taken from all budgets
	due        chan struct{}            // holds one value when a write waits for reports
	slowness   slowness                 // Run's
}

// ShortageConfig configures a Shortage; all fields are required.
type ShortageConfig struct {
	Space      *Space
	Members    *membership.Members
	Leadership *leadership.Leadership
	Lifecycle  *lifecycle.Lifecycle
	Peers      *forward.Client
	// AppendTime returns the usual time of this node's appends to its log, 0 if that is unknown.
	AppendTime func() time.Duration
	// Timeout is Raft's election timeout, which also bounds one request to the voters.
	Timeout    time.Duration
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// NewShortage returns a Shortage that refuses nothing yet.
func NewShortage(cfg ShortageConfig) *Shortage {
	return &Shortage{
		cfg: cfg, readOnly: newReadOnlyGauge(cfg.Registerer), waits: newWaitCounter(cfg.Registerer),
		slowLeader: newSlowLeaderCounter(cfg.Registerer), due: make(chan struct{}, 1),
	}
}

// Admit returns why this leader refuses an entry of size bytes, nil if it accepts it. The error is
// *failure.FullError while too few voters have space, and failure.ErrNotLeader while a quorum has
// space but this node does not, and therefore transfers leadership. frees reports that the entry is
// part of a deletion. That may use half of the reserve, and then waits until the voters have made
// their logs smaller, unless ctx ends first.
func (s *Shortage) Admit(ctx context.Context, frees bool, size int) error {
	cost := snapshotFactor * log.Footprint(size)
	wait := writeWait
	if frees {
		wait = deletionWait
	}
	var over <-chan time.Time
	for {
		b, err := s.admit(frees, cost)
		if err == nil || errors.Is(err, failure.ErrNotLeader) || !frees && s.view.Load().refuse(false) != nil {
			return err
		}
		if over == nil {
			s.waits.Inc()
			over = time.After(wait)
		}
		s.askNow()
		select {
		case <-b.next():
		case <-over:
			return err
		case <-ctx.Done():
			return err
		case <-s.cfg.Lifecycle.Closing():
			return failure.ErrClosed
		}
	}
}

// admit decides about an entry now. b is the budget of which it has taken cost, or that had not as
// much.
func (s *Shortage) admit(frees bool, cost int64) (b *budget, err error) {
	b = s.budget.Load()
	if err := s.view.Load().refuse(frees); err != nil {
		return b, err
	}
	if !b.take(frees, cost) {
		return b, b.refuse(frees, cost)
	}
	s.spent.Add(cost)
	return b, nil
}

// askNow makes Run ask the voters soon, and this node measure its disk.
func (s *Shortage) askNow() {
	s.cfg.Space.Remeasure()
	select {
	case s.due <- struct{}{}:
	default: // Run has not handled the previous one yet
	}
}

// Run asks the voters for the state of their disks while this node leads, until ctx ends. It
// transfers leadership to a voter with space if this node has none, and to one with a faster disk
// if this node's is slow.
func (s *Shortage) Run(ctx context.Context) error {
	return s.cfg.Leadership.WhileLeader(ctx, func(ctx context.Context) error {
		defer func() { // the next leader decides
			s.view.Store(nil)
			s.replace(nil)
			s.readOnly.Set(0)
			s.slowness.since = time.Time{}
		}()
		next := time.NewTimer(0)
		defer next.Stop()
		var transfers attempts
		reported := levels{}
		var before int64 // spent when the voters were asked before: reports include this much
		for {
			asked := s.spent.Load()
			voters := s.askVoters(ctx)
			if ctx.Err() != nil {
				return nil
			}
			reported.fillUnknown(voters, time.Now())
			s.replace(newBudget(s.cfg.Members.Name(), voters, s.spent.Load()-before))
			s.update(assess(s.cfg.Members.Name(), voters))
			s.transferAway(&transfers, voters)
			s.transferFromSlowDisk(voters, time.Now())
			lifecycle.Pause(ctx, nil, askPause)
			next.Reset(s.interval(before) - askPause)
			before = asked
			select {
			case <-ctx.Done():
				return nil
			case <-next.C:
			case <-s.due:
			}
		}
	})
}

// interval returns the time between two requests to the voters. It is longer while nothing is
// written, because the requests are a good part of what an idle cluster costs. before is what was
// spent when the voters were asked before the last time.
func (s *Shortage) interval(before int64) time.Duration {
	if s.view.Load() == nil && s.spent.Load() == before {
		return idleInterval
	}
	return measureInterval
}

// replace replaces the budget, and wakes the writes that wait for it.
func (s *Shortage) replace(b *budget) {
	if before := s.budget.Swap(b); before != nil {
		close(before.replaced)
	}
}

// update replaces the view, and logs when the leader stops and resumes accepting writes.
func (s *Shortage) update(v *shortage) {
	before := s.view.Swap(v)
	stopped, stops := before != nil && before.writes == noQuorum, v != nil && v.writes == noQuorum
	s.readOnly.Set(indicator(stops))
	switch {
	case stops && !stopped:
		s.cfg.Logger.Error("refusing writes: too few voters have space on their disks", "full", strings.Join(v.full, ","))
	case stopped && !stops:
		s.cfg.Logger.Info("accepting writes again")
	}
}

// askVoters asks all voters concurrently.
func (s *Shortage) askVoters(ctx context.Context) []voterLevel {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	others, voter := s.cfg.Members.OtherVoters()
	answers := make(chan voterLevel, len(others))
	asked := 0
	for _, peer := range others {
		name, address := string(peer.ID), s.cfg.Members.AddressOf(peer)
		if s.cfg.Lifecycle.Go(func() { answers <- s.levelOf(ctx, name, address) }) {
			asked++
		}
	}
	var all []voterLevel
	if voter {
		all = append(all, s.own())
	}
	for range asked {
		all = append(all, <-answers)
	}
	return all
}

// own returns the level of this node.
func (s *Shortage) own() voterLevel {
	v := voterLevel{name: s.cfg.Members.Name(), level: s.cfg.Space.level(), appendTime: s.cfg.AppendTime()}
	v.room.writes, v.room.deletions = s.cfg.Space.Room()
	return v
}

func (s *Shortage) levelOf(ctx context.Context, name, address string) voterLevel {
	v := voterLevel{name: name, level: sufficient, room: unlimited()}
	answer, err := s.cfg.Peers.Alarms(ctx, name, address, s.cfg.Members.ClusterID())
	switch {
	case err != nil:
		s.cfg.Logger.Debug("free space of a voter unknown", "voter", name, "error", err)
		v.level = unknownLevel
	case answer.GetExhausted():
		v.level = exhausted
	case slices.ContainsFunc(answer.GetAlarms(), func(a *peerpb.Alarm) bool { return a.GetName() == string(NoSpace) && a.GetNode() == name }):
		v.level = low
	}
	v.appendTime = time.Duration(answer.GetAppendNanos())
	if err == nil && answer.RoomForWrites != nil && answer.RoomForDeletions != nil {
		v.room = room{answer.GetRoomForWrites(), answer.GetRoomForDeletions()}
	}
	return v
}

// attempts limits the attempts to transfer leadership away. They go to one voter after the other,
// and not too often.
type attempts struct {
	last  time.Time
	count int
}

// transferAway transfers leadership to a voter with space if this node has none.
func (s *Shortage) transferAway(a *attempts, voters []voterLevel) {
	var targets []string
	for _, v := range voters {
		if v.level == sufficient {
			targets = append(targets, v.name)
		}
	}
	grace := leadership.TransferGrace(s.cfg.Timeout)
	if s.cfg.Space.level() == sufficient || len(targets) == 0 || time.Since(a.last) < grace {
		return
	}
	slices.Sort(targets)
	target := targets[a.count%len(targets)]
	a.count++
	if err := s.cfg.Leadership.Transfer(target); err != nil {
		s.cfg.Logger.Warn("could not transfer leadership away from a node without space", "to", target, "error", err)
	}
	a.last = time.Now()
}
