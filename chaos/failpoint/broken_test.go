package failpoint_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"quorate/chaos/capability"
	"quorate/chaos/client"
	"quorate/chaos/disk"
	"quorate/chaos/failpoint"
)

// broken says how to find a rule broken by the point that breaks it. Each returns whether it was,
// of a node whose point is armed or not.
var broken = map[string]func(t *testing.T, armed bool) bool{
	"breakAckBeforeSync": forgets,
	"breakSkipSync":      forgetsWithoutPower,
	"breakReadIndex":     readsThePast,
	"breakDropEvent":     dropsEvents,
	"breakReuseVersion":  reusesVersions,
	"breakApplyTwice":    appliesTwice,
}

// TestRulesAreBroken shows for each point that breaks a rule that real servers break it while it is
// armed, and not otherwise.
func TestRulesAreBroken(t *testing.T) {
	binary(t)
	for _, point := range stages()[failpoint.Breaking] {
		for _, armed := range []bool{true, false} {
			name := point
			if !armed {
				name += " not armed"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				breaks := broken[point]
				if breaks == nil {
					t.Fatal("nothing is known of what it breaks")
				}
				if breaks(t, armed) != armed {
					t.Errorf("armed: %v; broken: %v", armed, !armed)
				}
			})
		}
	}
}

// create stores an object that must be new, and acknowledged.
func (s *server) create(name string) client.Object {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	if outcome, err := s.client.EnsureNamespace(ctx, namespace); outcome != client.OK {
		s.t.Fatalf("create namespace: %s: %v", outcome, err)
	}
	o, outcome, err := s.client.Create(ctx, namespace, name, map[string]string{"value": name})
	if outcome != client.OK {
		s.t.Fatalf("create %s: %s: %v", name, outcome, err)
	}
	return o
}

// get reads an object by quorum; found says whether it is there.
func (s *server) get(name string) (o client.Object, found bool) {
	s.t.Helper()
	await(s.t, "a quorum read", func() bool {
		ctx, cancel := context.WithTimeout(s.t.Context(), requestTimeout)
		defer cancel()
		var outcome client.Outcome
		o, outcome, _ = s.client.Get(ctx, namespace, name)
		found = outcome == client.OK
		return found || outcome == client.NotFound
	})
	return o, found
}

// breaks arms a point that breaks a rule, if armed is true.
func (s *server) breaks(armed bool, point, terms string) {
	s.t.Helper()
	if armed {
		s.arm(point, terms)
	}
}

// forgets: what was acknowledged is gone when the process is killed.
func forgets(t *testing.T, armed bool) bool {
	s := newServer(t, "n1")
	s.run()
	s.create("before")
	s.breaks(armed, "breakAckBeforeSync", failpoint.Break)
	s.create("after")
	s.kill()
	s.run()
	if _, found := s.get("before"); !found {
		t.Error("an object is gone that was stored before the rule was broken")
	}
	_, found := s.get("after")
	return !found
}

// forgetsWithoutPower: what was acknowledged is gone after a power cut.
func forgetsWithoutPower(t *testing.T, armed bool) bool {
	capability.Require(t, disk.Available())
	backing, mounted := t.TempDir(), t.TempDir()
	d, err := disk.Mount(mounted, backing, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	s := newServer(t, "n1")
	s.dir = filepath.Join(d.Dir(), "n1")
	s.run()
	s.create("before")
	s.breaks(armed, "breakSkipSync", failpoint.Break)
	s.create("after")
	s.kill()
	if err := d.Crash(); err != nil {
		t.Fatal(err)
	}
	s.run()
	if _, found := s.get("before"); !found {
		t.Error("an object is gone that was synced before the rule was broken")
	}
	_, found := s.get("after")
	return !found
}

// readsThePast: a quorum read of a node that lags behind misses what was acknowledged before it
// began.
func readsThePast(t *testing.T, armed bool) bool {
	c := newTrio(t, "--timeout-scale", "1") // the laggard is not to be elected
	leader := c.leader()
	laggard := c.followers(leader)[0]
	leader.create("old")
	laggard.breaks(armed, "breakReadIndex", failpoint.Break)
	lag := "sleep(1000)"
	if armed {
		lag = "sleep(60000)" // for a slow machine; nobody waits for it
	}
	laggard.arm("applyBefore", lag)
	leader.create("news")
	_, found := laggard.get("news")
	return !found
}

// dropsEvents: a watch continues after a change without sending it.
func dropsEvents(t *testing.T, armed bool) bool {
	s := newServer(t, "n1")
	s.run()
	first := s.create("first")
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	opened := make(chan struct{})
	var seen []string
	ended := make(chan error, 1)
	go func() {
		ended <- s.client.Watch(ctx, namespace, first.Version, func() { close(opened) }, func(e client.Event) {
			if e.Type == "ADDED" {
				seen = append(seen, e.Object.Name)
			}
			if e.Object.Name == "last" {
				stop()
			}
		})
	}()
	<-opened
	s.breaks(armed, "breakDropEvent", failpoint.Break)
	s.create("middle")
	s.arm("breakDropEvent", "")
	s.create("last")
	if err := <-ended; !slices.Contains(seen, "last") {
		t.Fatalf("the watch reported %s: %v", seen, err)
	}
	return !slices.Contains(seen, "middle")
}

// reusesVersions: two objects have one version, by responses or events.
func reusesVersions(t *testing.T, armed bool) bool {
	s := newServer(t, "n1")
	s.run()
	s.breaks(armed, "breakReuseVersion", failpoint.Break)
	const pairs = 20 // the node writes something itself now and then
	previous := s.create("before")
	for i := range pairs {
		name := string(rune('a' + i))
		told := s.create(name)
		o, found := s.get(name)
		if !found {
			t.Fatal("an object is gone")
		}
		if o.Version == previous.Version {
			return true
		}
		previous = told
	}
	return false
}

// appliesTwice reports whether watchers receive a write twice that a client sent once. The leader
// is killed after it has applied the write and before it responds, and the follower that forwarded
// the write sends it again. That succeeds only if another leader is elected before the write's time
// limit, so with an armed point the function makes several attempts.
func appliesTwice(t *testing.T, armed bool) bool {
	const attempts = 5
	c := newTrio(t, "--timeout-scale", "1")
	for attempt := range attempts {
		leader := c.leader()
		if c.appliesTwice(leader, fmt.Sprintf("object-%d", attempt), armed) {
			return true
		}
		if !armed {
			return false
		}
		leader.run()
		c.awaitReady()
	}
	return false
}

// appliesTwice kills the leader in the middle of a write, and returns whether that was applied
// twice.
func (c *trio) appliesTwice(leader *server, name string, armed bool) bool {
	t := c.t
	others := c.followers(leader)
	o := others[0].create(name)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	opened := make(chan struct{})
	times := 0
	ended := make(chan error, 1)
	go func() {
		ended <- others[1].client.Watch(ctx, namespace, o.Version, func() { close(opened) }, func(e client.Event) {
			if e.Type == "MODIFIED" && e.Object.Data["value"] == "new" {
				times++
			}
			if e.Object.Name == name+"-last" {
				stop()
			}
		})
	}()
	<-opened
	others[0].breaks(armed, "breakApplyTwice", failpoint.Break)
	leader.arm("forwardApplied", failpoint.Kill)
	o.Data = map[string]string{"value": "new"}
	if _, outcome, err := others[0].client.Replace(ctx, namespace, o); !armed && outcome != client.Unknown {
		t.Errorf("the outcome of a write whose leader died is %s: %v", outcome, err)
	}
	leader.awaitKilled("forwardApplied")
	others[0].awaitServing(name + "-last")
	if err := <-ended; times == 0 {
		t.Fatalf("the watch did not tell of the write: %v", err)
	}
	return times > 1
}

// awaitServing creates an object as soon as the node can.
func (s *server) awaitServing(name string) {
	s.t.Helper()
	await(s.t, s.name+" to serve writes", func() bool {
		ctx, cancel := context.WithTimeout(s.t.Context(), requestTimeout)
		defer cancel()
		_, outcome, _ := s.client.Create(ctx, namespace, name, nil)
		return outcome == client.OK || outcome == client.Conflict // of an earlier attempt
	})
}
