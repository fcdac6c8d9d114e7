package check_test

import (
	"testing"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/client"
	"quorate/chaos/history"
)

const second = time.Second

// TestServed checks that an outage lasts from the first request that was not served to the next one
// that was, and is a finding only if it exceeds the allowed time.
func TestServed(t *testing.T) {
	read := func(node string, invoked, answered time.Duration) history.Op {
		return history.Op{Kind: history.Get, Node: node, Key: "a", Invoked: invoked, Answered: answered, Outcome: client.NotFound}
	}
	write := func(invoked, answered time.Duration, outcome client.Outcome) history.Op {
		return history.Op{Kind: history.Create, Node: "n1", Key: "a", Invoked: invoked, Answered: answered, Outcome: outcome}
	}
	failed := func(kind history.Kind, node string, invoked, answered time.Duration) history.Failure {
		return history.Failure{Kind: kind, Node: node, Invoked: invoked, Answered: answered}
	}
	for name, c := range map[string]struct {
		record  history.Record
		service check.Service
		node    string
		longest time.Duration
		found   int
	}{
		"always served": {
			history.Record{Ops: []history.Op{read("n1", 1, second/10), read("n1", second/5, second/4)}}, check.QuorumReads, "n1", 0, 0,
		},
		"nobody asked for long": {
			history.Record{Ops: []history.Op{read("n1", 0, 1), read("n1", 60*second, 60*second+1)}}, check.QuorumReads, "n1", 0, 0,
		},
		"refused too long": {
			history.Record{
				Ops:      []history.Op{read("n1", 0, 1), read("n1", 19*second, 20*second)},
				Failures: []history.Failure{failed(history.Get, "n1", 2*second, 3*second)},
			}, check.QuorumReads, "n1", 18 * second, 1,
		},
		"refused as long as allowed": {
			history.Record{
				Ops:      []history.Op{read("n1", 0, 1), read("n1", 11*second, 12*second)},
				Failures: []history.Failure{failed(history.List, "n1", 2*second, 3*second)},
			}, check.QuorumReads, "n1", 10 * second, 0,
		},
		"a slow answer": {
			history.Record{Ops: []history.Op{read("n1", 0, 1), read("n1", second, 15*second)}}, check.QuorumReads, "n1", 14 * second, 1,
		},
		"another request was served meanwhile": {
			history.Record{Ops: []history.Op{read("n1", second, 15*second), read("n1", 6*second, 7*second)}}, check.QuorumReads, "n1", 8 * second, 0,
		},
		"another node served meanwhile": {
			history.Record{Ops: []history.Op{read("n1", second, 15*second), read("n2", 6*second, 7*second)}}, check.QuorumReads, "n1", 14 * second, 1,
		},
		"never again": {
			history.Record{
				Ops:      []history.Op{read("n1", 0, 1)},
				Failures: []history.Failure{failed(history.Get, "n1", 2*second, 3*second), failed(history.Get, "n1", 20*second, 21*second)},
			}, check.QuorumReads, "n1", 19 * second, 1,
		},
		"cached reads are judged apart": {
			history.Record{
				Ops:      []history.Op{read("n1", 0, 1), read("n1", 20*second, 20*second+1)},
				Failures: []history.Failure{failed(history.CachedGet, "n1", 2*second, 3*second), failed(history.CachedList, "n1", 18*second, 19*second)},
			}, check.CachedReads, "n1", 17 * second, 1,
		},
		"writes through any node": {
			history.Record{
				Ops:      []history.Op{write(0, 1, client.OK), write(second, 2*second, client.Unknown), write(11*second, 30*second, client.OK)},
				Failures: []history.Failure{failed(history.Replace, "n2", 8*second, 9*second)},
			}, check.Writes, "", 29 * second, 1,
		},
		"a conflict is no service": {
			history.Record{Ops: []history.Op{write(0, 1, client.OK), write(8*second, 9*second, client.Conflict), write(second, 14*second, client.OK)}},
			check.Writes, "", 13 * second, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := check.All(t.Context(), &c.record, check.Options{Allowed: func(check.Outage) time.Duration { return 10 * second }})
			if n := count(v, check.Served); n != c.found {
				t.Errorf("%d findings, want %d: %s", n, c.found, found(v))
			}
			for _, r := range v.Refusals {
				if r.Service == c.service && r.Node == c.node {
					if r.Longest.Round(second/10) != c.longest || r.Allowed != 10*second {
						t.Errorf("longest %v of %v, want %v", r.Longest, r.Allowed, c.longest)
					}
					return
				}
			}
			t.Errorf("no word of %s on %q: %+v", c.service, c.node, v.Refusals)
		})
	}
}

// TestServedWithoutBounds checks that outages are not judged if Options.Allowed is nil.
func TestServedWithoutBounds(t *testing.T) {
	r := history.Record{Failures: []history.Failure{{Kind: history.Get, Node: "n1", Answered: time.Hour}}}
	if v := check.All(t.Context(), &r, check.Options{}); count(v, check.Served) != 0 || v.Refusals != nil {
		t.Errorf("%+v", v)
	}
}
