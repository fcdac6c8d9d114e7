package leadership

import (
	"context"
	"slices"
	"sync"
	"time"

	"quorate/raftstore/failure"
	"quorate/raftstore/lifecycle"
)

const (
	// voterProbeInterval is the pause between probes of the other voters while no leader is known.
	voterProbeInterval = time.Second
	// voterProbeLimit bounds one probe of a voter.
	voterProbeLimit = time.Second
)

// outage is a time in which this node knows no leader. It is immutable.
type outage struct {
	since   time.Time
	missing []string // voters that did not respond to the last probe
}

// leaderChanged begins or ends an outage, and wakes waiters.
func (l *Leadership) leaderChanged() {
	_, _, known := l.cfg.Members.Leader()
	switch {
	case known:
		l.outage.Store(nil)
	case l.outage.Load() == nil:
		l.outage.Store(&outage{since: time.Now()})
	}
	l.notify()
}

// NoLeader returns the present outage, nil if this node knows a leader.
func (l *Leadership) NoLeader() *failure.NoLeaderError {
	o := l.outage.Load()
	if o == nil {
		return nil
	}
	if _, _, known := l.cfg.Members.Leader(); known {
		return nil
	}
	return &failure.NoLeaderError{For: time.Since(o.since), Voters: l.cfg.Members.Voters(), Missing: o.missing}
}

// Refuse returns a *failure.NoLeaderError for a request that needs a leader, if this node has known
// none for Config.LeaderWait. Until then the request should wait for an election, and Refuse
// returns nil.
func (l *Leadership) Refuse() error {
	e := l.NoLeader()
	if e == nil || e.For < l.cfg.LeaderWait {
		return nil
	}
	l.metrics.refused.Inc()
	return e
}

// ProbeVoters keeps the voters that do not respond up to date for Refuse and NoLeader while this
// node knows no leader, until ctx ends. Thus a request need not wait for voters that are down.
func (l *Leadership) ProbeVoters(ctx context.Context) error {
	for ctx.Err() == nil {
		_, changed := l.Current()
		if o := l.outage.Load(); o != nil {
			l.outage.CompareAndSwap(o, &outage{since: o.since, missing: l.probeVoters(ctx)})
			lifecycle.Pause(ctx, changed, voterProbeInterval)
			continue
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
	return nil
}

// probeVoters returns the names of the other voters that do not respond.
func (l *Leadership) probeVoters(ctx context.Context) (missing []string) {
	ctx, cancel := context.WithTimeout(ctx, voterProbeLimit)
	defer cancel()
	others, _ := l.cfg.Members.OtherVoters()
	errs := make([]error, len(others))
	var probes sync.WaitGroup
	for i, voter := range others {
		probes.Go(func() { errs[i] = l.cfg.Probe(ctx, voter) })
	}
	probes.Wait()
	for i, voter := range others {
		if errs[i] != nil {
			l.cfg.Logger.Debug("a voter does not respond", "voter", voter.ID, "error", errs[i])
			missing = append(missing, string(voter.ID))
		}
	}
	slices.Sort(missing)
	return missing
}
