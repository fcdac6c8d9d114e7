package check

import (
	"cmp"
	"slices"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// sighting is a moment at which a client knew a version, which therefore existed.
type sighting struct {
	at      time.Duration
	version uint64
	op      *history.Op // the operation that was answered; nil if a watcher received an event
}

// sightings returns all moments at which a client received a version, by time.
func sightings(ops []*history.Op, t *timeline) []sighting {
	var all []sighting
	for _, op := range ops {
		if version := versionTold(op, t); version != 0 {
			all = append(all, sighting{at: op.Answered, version: version, op: op})
		}
	}
	for _, c := range t.changes {
		all = append(all, sighting{at: c.event.Arrived, version: c.version()})
	}
	slices.SortFunc(all, func(a, b sighting) int { return cmp.Compare(a.at, b.at) })
	return all
}

// versionTold returns the version in a response or, for a deletion, the version that watchers
// report; 0 if there is none.
func versionTold(op *history.Op, t *timeline) uint64 {
	switch {
	case op.Outcome != client.OK:
		return 0
	case op.Items != nil || op.Version != 0:
		return op.Version
	case op.Kind == history.Delete && t.made[op] != nil:
		return t.made[op].version()
	default:
		return op.Got.Version
	}
}

// versions checks that no two writes have one version, and that an operation that was invoked after
// a version was known has a later one: a write a higher version, a quorum list at least the same.
func versions(ops []*history.Op, t *timeline, found findings) {
	owner := map[uint64]*history.Op{}
	seen := sightings(ops, t)
	next := 0
	var highest sighting
	for _, op := range ops {
		for ; next < len(seen) && seen[next].at < op.Invoked; next++ {
			if seen[next].version > highest.version {
				highest = seen[next]
			}
		}
		version := versionTold(op, t)
		if c := t.made[op]; c != nil && version == 0 {
			version = c.version()
		}
		isWrite := op.Kind.IsWrite()
		switch {
		case version == 0 || !isWrite && op.Kind != history.List && op.Kind != history.PagedList:
			continue
		case version < highest.version || isWrite && version == highest.version:
			found.add(Versions, "%s got version %d; version %d was known at %v to %s",
				describeOp(op), version, highest.version, highest.at, highest.knower())
		}
		if !isWrite {
			continue
		}
		if other := owner[version]; other != nil {
			found.add(Versions, "%s got version %d, as did %s", describeOp(op), version, describeOp(other))
		}
		owner[version] = op
	}
}

func (s sighting) knower() string {
	if s.op == nil {
		return "a watcher"
	}
	return describeOp(s.op)
}
