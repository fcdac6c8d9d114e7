package nemesis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"quorate/chaos/nemesis"
)

// TestEachIdleAct checks that every act on an idle cluster can be done and undone without waiting
// for a write.
func TestEachIdleAct(t *testing.T) {
	for _, group := range nemesis.IdleGroups() {
		acts, unavailable := nemesis.Parted(newFleet(t, size), group.Acts)
		if len(unavailable) > 0 {
			t.Errorf("%s: not to be had: %v", group.Name, unavailable)
		}
		for _, act := range acts {
			t.Run(fmt.Sprintf("%s/%s", group.Name, act.Name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					for seed := range uint64(4) {
						f := newFleet(t, size)
						n := hurting(f, seed)
						n.Writing, n.Calm = func() int { return 0 }, 0
						if err := n.InjectAndRecover(t.Context(), act); err != nil {
							t.Fatalf("seed %d: %v", seed, err)
						}
						f.whole(size)
						if len(f.called()) == 0 {
							t.Error("nothing was done")
						}
					}
				})
			})
		}
	}
}

// TestActsWithoutTargets checks that an act that affects no node has no bound, so that it excuses
// no failure.
func TestActsWithoutTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, act := range nemesis.IdleGroups()[0].Acts {
			n := hurting(newFleet(t, size), 1)
			n.Calm = 0
			if err := n.InjectAndRecover(t.Context(), act); err != nil {
				t.Fatal(err)
			}
			if r := n.Injections()[0]; (len(r.Nodes) == 0) != (r.Bound == nemesis.Bound{}) {
				t.Errorf("%s affected %v and has the bound %+v", act.Name, r.Nodes, r.Bound)
			}
		}
	})
}

// TestRecordsNameNodesThatLostTheirLog checks that a record names exactly the nodes that may have
// lost their log.
func TestRecordsNameNodesThatLostTheirLog(t *testing.T) {
	for _, fault := range possible(t, newFleet(t, size)) {
		t.Run(fault.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := hurting(newFleet(t, size), 1)
				if err := n.InjectAndRecover(t.Context(), fault); err != nil {
					t.Fatal(err)
				}
				r := n.Injections()[0]
				damages := slices.Contains([]string{"flip-log", "tear-log", "truncate-log", "flip-snapshot", "delete-data"}, fault.Name)
				lags := slices.Contains([]string{"install-snapshot", "kill-during-restore"}, fault.Name)
				switch {
				case damages && !slices.Equal(r.Forgot, r.Nodes[:1]):
					t.Errorf("it affected %v, and %v forgot", r.Nodes, r.Forgot)
				case lags && len(r.Forgot) != size:
					t.Errorf("%v forgot", r.Forgot)
				case !damages && !lags && len(r.Forgot) > 0:
					t.Errorf("%v forgot", r.Forgot)
				}
				if r.Skewed != strings.HasPrefix(fault.Name, "clock") {
					t.Errorf("skewed: %v", r.Skewed)
				}
			})
		})
	}
}

// TestJoinersAfterLoss checks that a new node counts as one that may have lost its log if the log
// of another node may begin with a snapshot.
func TestJoinersAfterLoss(t *testing.T) {
	faults, err := nemesis.Named("join-leave")
	if err != nil {
		t.Fatal(err)
	}
	for _, compacted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n := hurting(newFleet(t, size), 1)
			n.Compacted = compacted
			if err := n.InjectAndRecover(t.Context(), faults[0]); err != nil {
				t.Fatal(err)
			}
			if forgot := n.Injections()[0].Forgot; (len(forgot) == 1) != compacted {
				t.Errorf("compacted %v: %v forgot", compacted, forgot)
			}
		})
	}
}
