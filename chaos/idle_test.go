package chaos

import (
	"testing"
	"time"

	"quorate/chaos/history"
	"quorate/chaos/nemesis"
)

// TestIdleExcuses checks that a read of an idle cluster may only fail if an act at that time
// explains it.
func TestIdleExcuses(t *testing.T) {
	began := time.Now()
	const second = time.Second
	offset := func(at time.Time) time.Duration { return at.Sub(began) }
	act := func(survivable bool, b nemesis.Bound, nodes ...string) []nemesis.Record {
		return []nemesis.Record{{At: began.Add(100 * second), Healed: began.Add(105 * second), Bound: b, Survivable: survivable, Nodes: nodes}}
	}
	read := func(node string, local bool, from, to int) history.IdleRead {
		return history.IdleRead{Node: node, Local: local, Invoked: time.Duration(from) * second, Answered: time.Duration(to) * second, Problem: "503"}
	}
	follower := nemesis.Bound{Writes: nemesis.Steady().Writes, Reads: 20 * second}
	leader := nemesis.Bound{Writes: 12 * second, Reads: 20 * second}
	for name, c := range map[string]struct {
		acts  []nemesis.Record
		whole []time.Duration
		read  history.IdleRead
		want  bool
	}{
		"nothing was done":                      {nil, nil, read("n1", false, 101, 102), false},
		"a command was given":                   {act(true, nemesis.Bound{}), nil, read("n1", false, 101, 102), false},
		"the node was affected":                 {act(true, follower, "n1"), nil, read("n1", true, 101, 102), true},
		"begun before, ended while it was":      {act(true, follower, "n1"), nil, read("n1", true, 98, 102), true},
		"ended before":                          {act(true, follower, "n1"), nil, read("n1", true, 98, 99), false},
		"begun soon after":                      {act(true, follower, "n1"), nil, read("n1", true, 124, 126), true},
		"begun long after":                      {act(true, follower, "n1"), nil, read("n1", true, 126, 127), false},
		"begun after all was served again":      {act(true, follower, "n1"), []time.Duration{50 * second, 110 * second}, read("n1", true, 111, 112), false},
		"another node than a follower":          {act(true, follower, "n1"), nil, read("n2", false, 101, 102), false},
		"another node than the leader":          {act(true, leader, "n1"), nil, read("n2", false, 101, 102), true},
		"another node's own state":              {act(true, leader, "n1"), nil, read("n2", true, 101, 102), false},
		"another node without a majority":       {act(false, follower, "n1", "n2"), nil, read("n3", false, 101, 102), true},
		"another node's state without majority": {act(false, follower, "n1", "n2"), nil, read("n3", true, 101, 102), false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimits(c.acts, offset, 200*second, 1)
			l.whole(c.whole)
			if got := l.excuses(c.read); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
