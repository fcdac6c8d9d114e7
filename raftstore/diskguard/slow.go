package diskguard

import (
	"time"
)

// A leader's disk is slow if its appends take both slowFactor times as long as those of another
// voter and slowDifference longer, for slowTime.
const (
	slowFactor     = 4
	slowDifference = 20 * time.Millisecond
	slowTime       = 5 * time.Second
)

// slowPause is the least time between two transfers of leadership away from one node because of its
// disk. A disk that is slow at times must not cause an election each time.
const slowPause = time.Minute

// slowness tracks whether this node's disk is slow while it leads.
type slowness struct {
	since       time.Time // when the disk was first found slow; zero if it is not
	transferred time.Time // the last attempt to transfer leadership for it
}

// target returns the voter that should lead instead of this node, "" if there is none. That is the
// one with the shortest append time, of those that have space. Each write waits for the leader's
// disk, but only for the fastest of the followers' that make a quorum.
func (s *slowness) target(own string, voters []voterLevel, now time.Time) string {
	var mine time.Duration
	var best voterLevel
	for _, v := range voters {
		switch {
		case v.appendTime == 0: // unknown
		case v.name == own:
			mine = v.appendTime
		case v.level == sufficient && (best.name == "" || v.appendTime < best.appendTime):
			best = v
		}
	}
	if best.name == "" || mine < slowFactor*best.appendTime || mine < best.appendTime+slowDifference {
		s.since = time.Time{}
		return ""
	}
	if s.since.IsZero() {
		s.since = now
	}
	if now.Sub(s.since) < slowTime || now.Sub(s.transferred) < slowPause {
		return ""
	}
	s.transferred, s.since = now, time.Time{}
	return best.name
}

// transferFromSlowDisk transfers leadership to a voter whose disk is much faster.
func (s *Shortage) transferFromSlowDisk(voters []voterLevel, now time.Time) {
	target := s.slowness.target(s.cfg.Members.Name(), voters, now)
	if target == "" {
		return
	}
	s.cfg.Logger.Warn("transferring leadership: this node's disk is slow", "to", target, "append_seconds", s.cfg.AppendTime().Seconds())
	s.slowLeader.Inc()
	if err := s.cfg.Leadership.Transfer(target); err != nil {
		s.cfg.Logger.Warn("could not transfer leadership away from a node with a slow disk", "to", target, "error", err)
	}
}
