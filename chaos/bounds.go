package chaos

import (
	"slices"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/nemesis"
)

// episode is a time in which strikes overlapped.
type episode struct {
	from, to time.Duration
	strikes  []nemesis.Record
	// whole is when everything was served again; 0: nobody looked.
	whole time.Duration
}

// limits says how long outages may last in one phase.
type limits struct {
	episodes []episode
	scale    float64 // of all bounds
}

// newLimits groups the strikes of a phase. offset turns times into those of the history, and end is
// its last one.
func newLimits(strikes []nemesis.Record, offset func(time.Time) time.Duration, end time.Duration, scale float64) *limits {
	l := &limits{scale: scale}
	for _, s := range strikes { // by their beginning
		from, to := offset(s.At), end
		if !s.Healed.IsZero() {
			to = offset(s.Healed)
		}
		if n := len(l.episodes); n > 0 && from <= l.episodes[n-1].to {
			last := &l.episodes[n-1]
			last.to, last.strikes = max(last.to, to), append(last.strikes, s)
			continue
		}
		l.episodes = append(l.episodes, episode{from: from, to: to, strikes: []nemesis.Record{s}})
	}
	return l
}

// allowed is how long an outage may last: as the strikes allow from whose beginning until their
// bound is over it began, and a little while nothing strikes.
func (l *limits) allowed(o check.Outage) time.Duration {
	most := l.scaled(bound(nemesis.Steady(), o.Service))
	for _, e := range l.episodes {
		reach := e.bound(o.Service)
		if o.From <= e.to+l.scaled(reach) && o.To >= e.from {
			most = max(most, e.lasting(o)+l.scaled(e.own(o)))
		}
	}
	return most
}

func (l *limits) scaled(d time.Duration) time.Duration { return time.Duration(float64(d) * l.scale) }

func bound(b nemesis.Bound, s check.Service) time.Duration {
	if s == check.Writes {
		return b.Writes
	}
	return b.Reads
}

// bound is the longest of the strikes.
func (e *episode) bound(s check.Service) (most time.Duration) {
	for _, strike := range e.strikes {
		most = max(most, bound(strike.Bound, s))
	}
	return most
}

// own is the bound of an outage, without the time in which the service was struck itself. Nothing
// but a strike on the node keeps it from serving its own state.
func (e *episode) own(o check.Outage) time.Duration {
	if o.Service == check.CachedReads && !e.struck(o.Node) {
		return bound(nemesis.Steady(), o.Service)
	}
	return e.bound(o.Service)
}

// lasting is how long the service may have been struck. Nothing is promised while strikes overlap.
func (e *episode) lasting(o check.Outage) time.Duration {
	all := e.to - e.from
	several := len(e.strikes) > 1
	switch {
	case o.Service == check.CachedReads && !e.struck(o.Node):
		return 0
	case o.Node != "" && e.struck(o.Node), several, !e.strikes[0].Survivable:
		return all
	case o.Service == check.QuorumReads && e.strikes[0].Bound.Reaches:
		return all
	}
	return 0
}

func (e *episode) struck(node string) bool {
	return slices.ContainsFunc(e.strikes, func(s nemesis.Record) bool { return slices.Contains(s.Nodes, node) })
}
