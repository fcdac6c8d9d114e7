package chaos

import (
	"testing"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/nemesis"
)

// TestLimits checks that an outage may last exactly as long as the injections at its time allow for
// that service on that node.
func TestLimits(t *testing.T) {
	began := time.Now()
	steady := nemesis.Steady()
	fault := nemesis.Bound{Writes: 10 * time.Second, Reads: 15 * time.Second}
	reaching := nemesis.Bound{Writes: 10 * time.Second, Reads: 15 * time.Second, Reaches: true}
	injection := func(from, to int, survivable bool, b nemesis.Bound, nodes ...string) nemesis.Record {
		return nemesis.Record{
			At: began.Add(time.Duration(from) * time.Second), Healed: began.Add(time.Duration(to) * time.Second), Bound: b,
			Survivable: survivable, Nodes: nodes,
		}
	}
	outage := func(s check.Service, node string, from, to int) check.Outage {
		return check.Outage{Service: s, Node: node, From: time.Duration(from) * time.Second, To: time.Duration(to) * time.Second}
	}
	one := []nemesis.Record{injection(100, 105, true, fault, "n1")}
	all := []nemesis.Record{injection(100, 105, false, fault, "n1", "n2")}
	for name, c := range map[string]struct {
		injections []nemesis.Record
		outage     check.Outage
		want       time.Duration
	}{
		"no fault":                                  {nil, outage(check.Writes, "", 1, 9), steady.Writes},
		"long before":                               {one, outage(check.Writes, "", 1, 9), steady.Writes},
		"long after":                                {one, outage(check.Writes, "", 120, 129), steady.Writes},
		"writes while it lasts":                     {one, outage(check.Writes, "", 101, 109), fault.Writes},
		"writes soon after":                         {one, outage(check.Writes, "", 114, 119), fault.Writes},
		"reads of another node":                     {one, outage(check.QuorumReads, "n2", 101, 109), fault.Reads},
		"reads of the node":                         {one, outage(check.QuorumReads, "n1", 101, 109), 5*time.Second + fault.Reads},
		"cached reads of the node":                  {one, outage(check.CachedReads, "n1", 101, 109), 5*time.Second + fault.Reads},
		"cached reads of another node":              {one, outage(check.CachedReads, "n2", 101, 109), steady.Reads},
		"writes without a majority":                 {all, outage(check.Writes, "", 101, 109), 5*time.Second + fault.Writes},
		"reads without a majority":                  {all, outage(check.QuorumReads, "n3", 101, 109), 5*time.Second + fault.Reads},
		"cached reads without a majority":           {all, outage(check.CachedReads, "n3", 101, 109), steady.Reads},
		"reads of a node that it reaches":           {[]nemesis.Record{injection(100, 105, true, reaching, "n1")}, outage(check.QuorumReads, "n2", 101, 109), 5*time.Second + fault.Reads},
		"writes of what reaches others":             {[]nemesis.Record{injection(100, 105, true, reaching, "n1")}, outage(check.Writes, "", 101, 109), fault.Writes},
		"injections that overlap":                   {[]nemesis.Record{one[0], injection(103, 120, true, steady, "n2")}, outage(check.Writes, "", 101, 129), 20*time.Second + fault.Writes},
		"injections one after the other":            {[]nemesis.Record{one[0], injection(110, 120, true, steady, "n2")}, outage(check.Writes, "", 101, 129), fault.Writes},
		"overlapping injections on other nodes":     {[]nemesis.Record{one[0], injection(103, 120, true, steady, "n2")}, outage(check.CachedReads, "n3", 101, 129), steady.Reads},
		"an injection that was never healed, 200 s": {[]nemesis.Record{{At: began.Add(100 * time.Second), Bound: fault, Nodes: []string{"n1"}}}, outage(check.QuorumReads, "n1", 101, 199), 100*time.Second + fault.Reads},
	} {
		t.Run(name, func(t *testing.T) {
			offset := func(at time.Time) time.Duration { return at.Sub(began) }
			if got := newLimits(c.injections, offset, 200*time.Second, 1).allowed(c.outage); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
	if got := newLimits(nil, nil, 0, 3).allowed(outage(check.Writes, "", 1, 9)); got != 3*steady.Writes {
		t.Errorf("scaled by three: %v", got)
	}
}

// TestExcuses checks that only injections that have happened explain that a position or list is too
// old.
func TestExcuses(t *testing.T) {
	began := time.Now()
	positions, lists := excuses([]nemesis.Record{
		{Fault: "kill-leader", At: began, Nodes: []string{"n1"}},
		{Fault: "clock-forward", At: began.Add(time.Second), Nodes: []string{"n1"}, Skewed: true},
		{Fault: "flip-log", At: began.Add(2 * time.Second), Nodes: []string{"n2"}, Forgot: []string{"n2"}},
	}, func(at time.Time) time.Duration { return at.Sub(began) })
	if len(positions) != 1 || positions[0] != (check.Excuse{Node: "n2", From: 2 * time.Second}) {
		t.Errorf("positions: %+v", positions)
	}
	if len(lists) != 2 || lists[0] != (check.Excuse{From: time.Second}) || lists[1] != (check.Excuse{From: 2 * time.Second}) {
		t.Errorf("lists: %+v", lists)
	}
}
