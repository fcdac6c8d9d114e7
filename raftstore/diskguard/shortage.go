package diskguard

import (
	"context"
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

// voterLevel is the level of one voter.
type voterLevel struct {
	name  string
	level level
}

// levelMemory is how long a voter that does not respond keeps its last reported level. A pause or a
// lost packet does not mean that its disk has changed. But while a voter is down, writes need the
// disks of the others, including full ones.
const levelMemory = 10 * measureInterval

// levels has the last level that each voter reported.
type levels map[string]report

type report struct {
	level level
	at    time.Time
}

// fillUnknown records the reported levels, and replaces each unknown level by the last reported
// one, unless that is older than levelMemory.
func (l levels) fillUnknown(voters []voterLevel, now time.Time) {
	for i, v := range voters {
		if v.level != unknownLevel {
			l[v.name] = report{v.level, now}
		} else if last, ok := l[v.name]; ok && now.Sub(last.at) <= levelMemory {
			voters[i].level = last.level
		}
	}
}

// assess returns the shortage of a cluster, nil if all voters have space. own is this node's name.
// A voter of unknown level counts as one without space, but only if another voter is known to have
// none: a busy network is no reason to refuse writes.
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

// Shortage decides which writes a leader accepts while voters have no space. All methods are safe
// for concurrent use.
type Shortage struct {
	cfg      ShortageConfig
	readOnly prometheus.Gauge
	view     atomic.Pointer[shortage] // nil while this node does not lead or all voters have space
}

// ShortageConfig configures a Shortage; all fields are required.
type ShortageConfig struct {
	Space      *Space
	Members    *membership.Members
	Leadership *leadership.Leadership
	Lifecycle  *lifecycle.Lifecycle
	Peers      *forward.Client
	// Timeout is Raft's election timeout, which also bounds one request to the voters.
	Timeout    time.Duration
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// NewShortage returns a Shortage that refuses nothing yet.
func NewShortage(cfg ShortageConfig) *Shortage {
	return &Shortage{cfg: cfg, readOnly: newReadOnlyGauge(cfg.Registerer)}
}

// Refuse returns why this leader refuses a write now, nil if it accepts it. The error is
// failure.ErrNotLeader while it transfers leadership to a voter with space, and *failure.FullError
// while too few voters have space. frees reports that the write is part of a deletion.
func (s *Shortage) Refuse(frees bool) error { return s.view.Load().refuse(frees) }

// Run asks the voters for their free space while this node leads, and transfers leadership to a
// voter with space if this node has none, until ctx ends.
func (s *Shortage) Run(ctx context.Context) error {
	return s.cfg.Leadership.WhileLeader(ctx, func(ctx context.Context) error {
		defer func() { // the next leader decides
			s.view.Store(nil)
			s.readOnly.Set(0)
		}()
		ticker := time.NewTicker(measureInterval)
		defer ticker.Stop()
		var transfers attempts
		reported := levels{}
		for {
			voters := s.askVoters(ctx)
			if ctx.Err() != nil {
				return nil
			}
			reported.fillUnknown(voters, time.Now())
			s.update(assess(s.cfg.Members.Name(), voters))
			s.transferAway(&transfers, voters)
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	})
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
		if s.cfg.Lifecycle.Go(func() { answers <- voterLevel{name, s.levelOf(ctx, name, address)} }) {
			asked++
		}
	}
	var all []voterLevel
	if voter {
		all = append(all, voterLevel{s.cfg.Members.Name(), s.cfg.Space.level()})
	}
	for range asked {
		all = append(all, <-answers)
	}
	return all
}

func (s *Shortage) levelOf(ctx context.Context, name, address string) level {
	answer, err := s.cfg.Peers.Alarms(ctx, name, address, s.cfg.Members.ClusterID())
	switch {
	case err != nil:
		s.cfg.Logger.Debug("free space of a voter unknown", "voter", name, "error", err)
		return unknownLevel
	case answer.GetExhausted():
		return exhausted
	case slices.ContainsFunc(answer.GetAlarms(), func(a *peerpb.Alarm) bool { return a.GetName() == string(NoSpace) && a.GetNode() == name }):
		return low
	}
	return sufficient
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
