package nemesis_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quorate/chaos/nemesis"
)

var errBroken = errors.New("it doesn't work")

// TestFormerProcessIsAdded checks the case that a join requested by a former process of a node is
// granted after the node was wiped. That member has to be removed as well.
func TestFormerProcessIsAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, size)
		wiped, taken := "", false
		f.fail = func(call string) error {
			if name, isWipe := strings.CutPrefix(call, "wipe "); isWipe {
				wiped = name
			} else if wiped != "" && call == "start "+wiped && !taken {
				f.states[wiped].member, f.states[wiped].former, taken = true, true, true
			}
			return nil
		}
		n := hurting(f, 1)
		if err := n.InjectAndRecover(t.Context(), named(t, "delete-data")); err != nil {
			t.Fatal(err)
		}
		f.whole(size)
		if got := n.Injections()[0].Notes; len(got) != 1 || !strings.Contains(got[0], "removed again") {
			t.Errorf("the notes are %q", got)
		}
	})
}

// TestJoinerIsAddedAfterItsEnd checks the case that a run is interrupted before a leader adds a new
// node that gossip knows. The nemesis must bar the node, or a leader adds it after its end.
func TestJoinerIsAddedAfterItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, size)
		joiner := ""
		f.fail = func(call string) error {
			if name, joins := strings.CutPrefix(call, "add "); joins && joiner == "" {
				joiner, _, _ = strings.Cut(name, " ")
				f.states[joiner].member, f.states[joiner].late = false, true
			}
			return nil
		}
		n := hurting(f, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := n.InjectAndRecover(ctx, named(t, "join-leave")); err == nil {
			t.Error("a change that could not be completed is not reported")
		}
		f.settled(n)
		if joiner == "" {
			t.Error("no node joined")
		}
	})
}

// TestRefusedProcessIsAdded checks the case that the leader adds a node which then ends, because
// another node still knows its former process. The nemesis must remove that member and wipe the
// node again.
func TestRefusedProcessIsAdded(t *testing.T) {
	for name, answered := range map[string]bool{"and removed": true, "and removed without an answer": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, size)
				wiped := ""
				f.fail = func(call string) error {
					name, isWipe := strings.CutPrefix(call, "wipe ")
					switch {
					case isWipe && wiped == "":
						wiped, f.states[name].refused = name, true
					case wiped != "" && !answered && strings.HasSuffix(call, "[remove "+wiped+"]"):
						f.states[wiped].member, f.states[wiped].barred, answered = false, true, true
						return errBroken
					}
					return nil
				}
				n := hurting(f, 1)
				if err := n.InjectAndRecover(t.Context(), named(t, "delete-data")); err != nil {
					t.Fatal(err)
				}
				f.whole(size)
			})
		})
	}
}

// TestNotRecovered checks that what the cluster failed to do is distinguished from failures of the
// nemesis.
func TestNotRecovered(t *testing.T) {
	for name, c := range map[string]struct {
		fault   string
		arrange func(f *fleet, n *nemesis.Nemesis)
		finding bool
		want    string
	}{
		"writes don't go on without the leader": {
			"kill-leader", func(f *fleet, n *nemesis.Nemesis) { n.Writing = func() int { return 0 } }, true, "100 more writes acknowledged",
		},
		"a node doesn't come back": {
			"kill-follower", func(f *fleet, n *nemesis.Nemesis) {
				f.fail = func(call string) error {
					if strings.HasPrefix(call, "start") {
						for _, s := range f.states {
							if !s.running {
								s.member = false // its process will run but never be ready
							}
						}
					}
					return nil
				}
			}, true, "ready",
		},
		"a node without an injected fault ends": {
			"kill-leader", func(f *fleet, n *nemesis.Nemesis) {
				f.fail = func(call string) error {
					if strings.HasPrefix(call, "start n1") {
						f.states["n2"].running = false
					}
					return nil
				}
			}, true, "node n2 has ended by itself",
		},
		"nobody is elected": {
			"isolate-leader", func(f *fleet, n *nemesis.Nemesis) { f.states["n2"].voter, f.states["n3"].voter = false, false }, true, "another leader than [n1]",
		},
		"a node can't be killed": {
			"kill-leader", func(f *fleet, n *nemesis.Nemesis) {
				f.fail = func(call string) error {
					if strings.HasPrefix(call, "kill") {
						return errBroken
					}
					return nil
				}
			}, false, "end node n1",
		},
		"a node can't be started": {
			"kill-leader", func(f *fleet, n *nemesis.Nemesis) {
				f.fail = func(call string) error {
					if strings.HasPrefix(call, "start") {
						return errBroken
					}
					return nil
				}
			}, false, "start node n1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, size)
				n := hurting(f, 1)
				c.arrange(f, n)
				err := n.InjectAndRecover(t.Context(), named(t, c.fault))
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("the error is %v, want %q in it", err, c.want)
				}
				if _, finding := errors.AsType[*nemesis.NotRecovered](err); finding != c.finding {
					t.Errorf("%v: held against the cluster: %v, want %v", err, finding, c.finding)
				}
			})
		})
	}
}

func TestHealIsRepeatedUntilItSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, size)
		n := hurting(f, 1)
		in, err := n.Inject(t.Context(), named(t, "kill-all"))
		if err != nil {
			t.Fatal(err)
		}
		refusals := 2
		f.fail = func(call string) error {
			if strings.HasPrefix(call, "start") && refusals > 0 {
				refusals--
				return errBroken
			}
			return nil
		}
		if err := in.Heal(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("healing ended with %v", err)
		}
		for range 3 { // the first call does what is left, the others do nothing
			if err := in.Heal(t.Context()); err != nil {
				t.Error(err)
			}
		}
		f.whole(size)
		if starts := count(f.called(), "start"); starts != size+2 {
			t.Errorf("%d starts, want each node's and two that failed", starts)
		}
	})
}

func TestInjectionsReserveDistinctNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, size)
		n := hurting(f, 1)
		var injections []*nemesis.Injection
		for range size {
			in, err := n.Inject(t.Context(), named(t, "kill-at-start"))
			if err != nil {
				t.Fatal(err)
			}
			injections = append(injections, in)
		}
		for _, fault := range []string{"kill-leader", "kill-all", "pause-majority", "kill-at-start"} {
			if _, err := n.Inject(t.Context(), named(t, fault)); !errors.Is(err, nemesis.ErrNoTarget) {
				t.Errorf("%s with all nodes affected: %v", fault, err)
			}
		}
		for _, in := range injections {
			if err := in.Heal(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if _, err := n.Inject(t.Context(), named(t, "kill-all")); err != nil {
			t.Errorf("after healing: %v", err)
		}
		if err := n.HealAll(t.Context()); err != nil {
			t.Error(err)
		}
		f.whole(size)
	})
}

// A node is not killed for good while one of the others does not vote yet: then no quorum might be
// left.
func TestLastVotersAreSpared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		n := hurting(f, 1)
		f.states["n3"].voter = false
		for _, fault := range []string{"replace-node", "remove-leader"} {
			if _, err := n.Inject(t.Context(), named(t, fault)); !errors.Is(err, nemesis.ErrNoTarget) {
				t.Errorf("%s with two voters: %v", fault, err)
			}
		}
		f.states["n3"].voter = true
		in, err := n.Inject(t.Context(), named(t, "remove-leader"))
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Heal(t.Context()); err != nil {
			t.Error(err)
		}
		if err := n.HealAll(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestRulesAreCombined checks that rules of several injections for a link are combined, and that
// healing one injection removes its rules only.
func TestRulesAreCombined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, size)
		n := hurting(f, 1)
		first, err := n.Inject(t.Context(), named(t, "one-way-leader"))
		if err != nil {
			t.Fatal(err)
		}
		second, err := n.Inject(t.Context(), named(t, "loss"))
		if err != nil {
			t.Fatal(err)
		}
		both, dropped := 0, 0
		for _, rule := range f.rules {
			if rule.Drop {
				dropped++
			}
			if rule.Drop && rule.Loss > 0 {
				both++
			}
		}
		if both != 2 || dropped != 2 {
			t.Errorf("%d links are cut, %d of them lossy: want 2 and 2 of %v", dropped, both, f.rules)
		}
		if err := first.Heal(t.Context()); err != nil {
			t.Fatal(err)
		}
		for link, rule := range f.rules {
			if rule.Drop || rule.Loss == 0 {
				t.Errorf("%v: %+v is left", link, rule)
			}
		}
		if err := second.Heal(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.whole(size)
	})
}

// TestSuspectsAreStartedForAQuorum checks that a node that ends by itself after its injection was
// healed is started while healing another injection requires a quorum.
func TestSuspectsAreStartedForAQuorum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, size)
		n := hurting(f, 1)
		crash, err := n.Inject(t.Context(), named(t, "kill-in-write"))
		if err != nil {
			t.Fatal(err)
		}
		for len(crash.Nodes()) == 0 {
			time.Sleep(time.Second)
		}
		sick := crash.Nodes()[0]
		if err := crash.Heal(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Inject(t.Context(), named(t, "delete-data")); err != nil {
			t.Fatal(err)
		}
		f.exit(sick) // it was ending when the injection was healed
		if err := n.HealAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := n.AwaitWhole(t.Context(), "all"); err != nil {
			t.Fatal(err)
		}
		f.whole(size)
	})
}
