package nemesis_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
)

const size = 3

func hurting(f *fleet, seed uint64) *nemesis.Nemesis {
	return &nemesis.Nemesis{
		Fleet: f, Cluster: f, Rand: rand.New(rand.NewPCG(seed, 0)), Log: slog.New(slog.DiscardHandler), Writing: f.writing, Calm: 100,
	}
}

// possible returns all faults that are possible with a fleet without disks.
func possible(t *testing.T, f *fleet) []nemesis.Fault {
	t.Helper()
	faults, unavailable := nemesis.Possible(f)
	for _, u := range unavailable {
		if !strings.Contains(u.Why, "disks") {
			t.Errorf("%s is not possible: %s", u.Name, u.Why)
		}
	}
	return faults
}

func TestEachFault(t *testing.T) {
	for _, fault := range possible(t, newFleet(t, size)) {
		for _, count := range []int{size, 4, 5} {
			t.Run(fmt.Sprintf("%s of %d", fault.Name, count), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					for seed := range uint64(4) {
						f := newFleet(t, count)
						n := hurting(f, seed)
						if err := n.InjectAndRecover(t.Context(), fault); err != nil {
							t.Fatalf("seed %d: %v", seed, err)
						}
						f.whole(count)
						records := n.Injections()
						if len(records) != 1 || records[0].Fault != fault.Name || records[0].Healed.Before(records[0].At) {
							t.Errorf("the record says %+v", records)
						}
						if len(f.called()) == 0 {
							t.Error("nothing was done")
						}
					}
				})
			})
		}
	}
}

// TestEachFaultBrokenOff checks that a run that is interrupted at any time reverts all effects.
func TestEachFaultBrokenOff(t *testing.T) {
	for _, fault := range possible(t, newFleet(t, size)) {
		t.Run(fault.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for i, after := range []time.Duration{0, 50, 150, 300, 700, 1500, 2600, 4100, 7000} {
					f := newFleet(t, size)
					ctx, cancel := context.WithTimeout(t.Context(), after*time.Millisecond)
					n := hurting(f, uint64(i))
					if err := n.InjectAndRecover(ctx, fault); err != nil {
						if _, finding := errors.AsType[*nemesis.NotRecovered](err); finding {
							t.Errorf("broken off after %dms, and held against the cluster: %v", after, err)
						}
					}
					cancel()
					f.settled(n)
				}
			})
		})
	}
}

// settled waits until the cluster has recovered, and fails the test if any effect is left.
func (f *fleet) settled(n *nemesis.Nemesis) {
	f.t.Helper()
	if err := n.AwaitWhole(f.t.Context(), "afterwards"); err != nil {
		f.t.Error(err)
	}
	f.whole(size)
}

func TestMix(t *testing.T) {
	faults := possible(t, newFleet(t, size))
	for seed := range uint64(10) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, size)
				n := hurting(f, seed)
				if err := n.Mix(t.Context(), faults, 10*time.Minute); err != nil {
					t.Fatal(err)
				}
				f.whole(size)
				overlapping(t, n.Injections())
			})
		})
	}
}

// overlapping fails the test unless several injections of a mix were active at the same time, and
// never more than three.
func overlapping(t *testing.T, records []nemesis.Record) {
	t.Helper()
	most := 0
	for _, r := range records {
		at := 0
		for _, other := range records {
			if !other.At.After(r.At) && other.Healed.After(r.At) {
				at++
			}
		}
		most = max(most, at)
	}
	if most < 2 || most > 3 {
		t.Errorf("at most %d injections at a time, want 2 or 3", most)
	}
	if len(records) < 20 {
		t.Errorf("%d injections in ten minutes", len(records))
	}
}

func TestMixBrokenOff(t *testing.T) {
	faults := possible(t, newFleet(t, size))
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(60) {
			f := newFleet(t, size)
			n := hurting(f, seed)
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seed)*700*time.Millisecond)
			if err := n.Mix(ctx, faults, time.Hour); err == nil {
				t.Error("a mix that was broken off says that it was made")
			}
			cancel()
			f.settled(n)
		}
	})
}

func TestSameSeedSameFaults(t *testing.T) {
	faults := possible(t, newFleet(t, size))
	plan := func(t *testing.T, seed uint64) (calls []string) {
		synctest.Test(t, func(t *testing.T) {
			for _, fault := range faults {
				f := newFleet(t, 5)
				if err := hurting(f, seed).InjectAndRecover(t.Context(), fault); err != nil {
					t.Fatal(err)
				}
				// Snapshots of several nodes are requested concurrently, in no defined order.
				calls = append(calls, slices.DeleteFunc(f.called(), func(call string) bool { return strings.Contains(call, "[snapshot]") })...)
			}
		})
		return calls
	}
	first, again, other := plan(t, 1), plan(t, 1), plan(t, 2)
	if !slices.Equal(first, again) {
		t.Errorf("the same seed gave\n%v\nand\n%v", first, again)
	}
	if slices.Equal(first, other) {
		t.Error("another seed gave the same")
	}
}

func TestTargets(t *testing.T) {
	for name, want := range map[string]func(calls []string) bool{
		"kill-leader":   func(calls []string) bool { return calls[0] == "kill n1" },
		"stop-leader":   func(calls []string) bool { return calls[0] == "stop n1" },
		"pause-leader":  func(calls []string) bool { return calls[0] == "pause n1" },
		"kill-follower": func(calls []string) bool { return strings.HasPrefix(calls[0], "kill") && calls[0] != "kill n1" },
		"kill-all":      func(calls []string) bool { return count(calls, "kill") == size && count(calls, "start") == size },
		"kill-majority": func(calls []string) bool { return count(calls, "kill") == 2 && count(calls, "start") == 2 },
		"pause-majority": func(calls []string) bool {
			return count(calls, "pause") == 2 && count(calls, "resume") == 2
		},
		"rolling-restart": func(calls []string) bool { return count(calls, "stop") == size && count(calls, "start") == size },
		"kill-at-start": func(calls []string) bool {
			return count(calls, "kill") == count(calls, "start") && count(calls, "kill") > 4
		},
		"isolate-leader":   func(calls []string) bool { return calls[0] == "shape 4 links" || calls[0] == "shape 6 links" },
		"one-way-leader":   func(calls []string) bool { return calls[0] == "shape 2 links" },
		"bridge":           func(calls []string) bool { return calls[0] == "shape 2 links" },
		"leader-leaves":    func(calls []string) bool { return calls[0] == "operate n1 [leave]" && count(calls, "add") == 1 },
		"clocks-back":      func(calls []string) bool { return count(calls, "clock") == 2*size },
		"delete-data":      func(calls []string) bool { return count(calls, "wipe") == 1 && count(calls, "start") == 1 },
		"flip-log":         func(calls []string) bool { return count(calls, "wipe") == 1 && count(calls, "start") == 2 },
		"install-snapshot": func(calls []string) bool { return count(calls, "operate") == 4 && count(calls, "start") == 1 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, size)
				if err := hurting(f, 7).InjectAndRecover(t.Context(), named(t, name)); err != nil {
					t.Fatal(err)
				}
				if calls := f.called(); !want(calls) {
					t.Errorf("done was %q", calls)
				}
			})
		})
	}
}

func count(calls []string, verb string) (count int) {
	for _, call := range calls {
		if strings.HasPrefix(call, verb+" ") {
			count++
		}
	}
	return count
}

func named(t *testing.T, name string) nemesis.Fault {
	t.Helper()
	faults, err := nemesis.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return faults[0]
}

// plain is a fleet whose nodes can only be killed and started.
type plain struct{ nodes.Fleet }

func TestPossible(t *testing.T) {
	faults, unavailable := nemesis.Possible(plain{newFleet(t, size)})
	var names []string
	for _, fault := range faults {
		names = append(names, fault.Name)
	}
	if want := []string{"kill-leader", "kill-follower", "kill-majority", "kill-all", "kill-at-start"}; !slices.Equal(names, want) {
		t.Errorf("possible are %v, want %v", names, want)
	}
	all := nemesis.Faults()
	if len(faults)+len(unavailable) != len(all) {
		t.Errorf("%d faults are possible and %d are not, of %d", len(faults), len(unavailable), len(all))
	}
	seen := map[string]bool{}
	for _, fault := range all {
		if seen[fault.Name] || fault.About == "" || strings.ToLower(fault.Name) != fault.Name {
			t.Errorf("fault %q, about %q", fault.Name, fault.About)
		}
		seen[fault.Name] = true
	}
	for _, u := range unavailable {
		if !strings.HasPrefix(u.Why, "needs ") {
			t.Errorf("%s is not possible: %q", u.Name, u.Why)
		}
	}
	if err := (&nemesis.Nemesis{Fleet: plain{newFleet(t, size)}}).InjectAndRecover(t.Context(), named(t, "pause-leader")); err == nil {
		t.Error("what isn't possible was made")
	}
}

// TestSmallClusters checks that a fault is not injected into a cluster that is too small to survive
// it, because it would be a finding that writes do not continue.
func TestSmallClusters(t *testing.T) {
	for count := 1; count < size; count++ {
		faults, _ := nemesis.Possible(newFleet(t, count))
		for _, fault := range faults {
			t.Run(fmt.Sprintf("%s of %d", fault.Name, count), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					for seed := range uint64(4) {
						f := newFleet(t, count)
						if err := hurting(f, seed).InjectAndRecover(t.Context(), fault); err != nil {
							t.Fatalf("seed %d: %v", seed, err)
						}
						f.whole(count)
					}
				})
			})
		}
	}
}
