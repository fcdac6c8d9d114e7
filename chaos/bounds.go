package chaos

import (
	"slices"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/nemesis"
)

// episode is a period in which injections overlapped.
type episode struct {
	from, to   time.Duration
	injections []nemesis.Record
	// whole is when every service was available again; 0 if that was not observed.
	whole time.Duration
}

// limits determines how long outages may last in one phase.
type limits struct {
	episodes []episode
	scale    float64 // multiplies all bounds
}

// newLimits groups the injections of a phase into episodes. offset converts times to those of the
// history, and end is the end of the history.
func newLimits(injections []nemesis.Record, offset func(time.Time) time.Duration, end time.Duration, scale float64) *limits {
	l := &limits{scale: scale}
	for _, s := range injections { // sorted by their beginning
		from, to := offset(s.At), end
		if !s.Healed.IsZero() {
			to = offset(s.Healed)
		}
		if n := len(l.episodes); n > 0 && from <= l.episodes[n-1].to {
			last := &l.episodes[n-1]
			last.to, last.injections = max(last.to, to), append(last.injections, s)
			continue
		}
		l.episodes = append(l.episodes, episode{from: from, to: to, injections: []nemesis.Record{s}})
	}
	return l
}

// allowed returns how long an outage may last: the bound of the injections if it overlaps the time
// from their beginning to the end of their bound, in which they may excuse a part of it; otherwise
// the bound without injections.
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

// bound returns the longest bound of the injections.
func (e *episode) bound(s check.Service) (most time.Duration) {
	for _, injection := range e.injections {
		most = max(most, bound(injection.Bound, s))
	}
	return most
}

// own returns the part of an outage outside of the time in which its service was affected. Only an
// injection on a node excuses the node from serving its own state.
func (e *episode) own(o check.Outage) time.Duration {
	if o.Service == check.CachedReads && !e.affected(o.Node) {
		return bound(nemesis.Steady(), o.Service)
	}
	return e.bound(o.Service)
}

// lasting returns how long the service may have been affected. While injections overlap, it may
// always have been.
func (e *episode) lasting(o check.Outage) time.Duration {
	all := e.to - e.from
	several := len(e.injections) > 1
	switch {
	case o.Service == check.CachedReads && !e.affected(o.Node):
		return 0
	case o.Node != "" && e.affected(o.Node), several, !e.injections[0].Survivable:
		return all
	case o.Service == check.QuorumReads && e.injections[0].Bound.Reaches:
		return all
	}
	return 0
}

func (e *episode) affected(node string) bool {
	return slices.ContainsFunc(e.injections, func(s nemesis.Record) bool { return slices.Contains(s.Nodes, node) })
}
