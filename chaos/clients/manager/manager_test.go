package manager_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"quorate/chaos/clients/internal/cluster"
	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
)

const (
	namespace = "managed"
	sources   = 300
	sets      = 10
	kills     = 6
	// calm is how many reconciliations are done between two kills.
	calm     = 50
	patience = 3 * time.Minute
)

// TestManager runs two replicas of a manager while leaders of the cluster are killed and the
// leading replica is stopped.
func TestManager(t *testing.T) {
	c := cluster.Start(t, 3)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := c.Targets()[0].Client.EnsureNamespace(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	direct, err := client.New(c.Config(t, 2), client.Options{Scheme: scheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	l := &load{
		client: direct, rand: rand.New(rand.NewPCG(1, 1)),
		values: map[string]string{}, gone: map[string]bool{}, scales: map[string]int32{},
	}
	managers := &replicas{cluster: c, diary: &diary{}, running: map[int]*replica{}}
	defer managers.stopAll(t)
	managers.start(ctx, t, 0)
	managers.start(ctx, t, 1)
	if err := l.fill(ctx, sources, sets); err != nil {
		t.Fatal(err)
	}
	var loading sync.WaitGroup
	changing, stop := context.WithCancel(ctx)
	loading.Go(func() { l.run(changing, t) })
	defer loading.Wait()
	defer stop()

	n := c.Nemesis(t, calm, managers.diary.count)
	for kill := range kills {
		if kill == kills/2 {
			handOver(ctx, t, managers)
		}
		if err := n.InjectAndRecover(ctx, nemesis.KillLeader()); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	loading.Wait()
	settle(ctx, t, l)
	checkIndex(ctx, t, l, managers)
	managers.stopAll(t)
	checkSpans(t, managers.diary)
	t.Logf("%d changes, %d sources and %d deleted ones, %d reconciliations, %d finalized by the manager",
		l.steps, len(l.values), len(l.gone), len(managers.diary.spans), managers.diary.finalized)
}

// handOver stops the replica that leads, waits until the other one does, and starts it again.
func handOver(ctx context.Context, t *testing.T, managers *replicas) {
	t.Helper()
	ctx2, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var leader *replica
	if err := nodes.Await(ctx2, func() bool { leader = managers.leader(); return leader != nil }); err != nil {
		t.Fatalf("no replica leads: %v", err)
	}
	managers.stop(t, leader.id)
	if err := nodes.Await(ctx2, func() bool { return managers.leader() != nil }); err != nil {
		t.Fatalf("no replica took over: %v", err)
	}
	managers.start(ctx, t, leader.id)
}

// settle waits until everything is as the last changes want it.
func settle(ctx context.Context, t *testing.T, l *load) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var left error
	if err := nodes.Await(ctx, func() bool { left = l.unreconciled(t.Context()); return left == nil }); err != nil {
		t.Fatalf("not reconciled: %v", left)
	}
}

// checkIndex asks the leader's cache by the indexed field.
func checkIndex(ctx context.Context, t *testing.T, l *load, managers *replicas) {
	t.Helper()
	byValue := map[string]int{}
	for _, value := range l.values {
		byValue[value]++
	}
	leader := managers.leader()
	if leader == nil {
		t.Fatal("no replica leads")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for value, want := range byValue {
		var list corev1.ConfigMapList
		var err error
		waited := nodes.Await(ctx, func() bool { // what was deleted last goes from the cache a moment later
			err = leader.manager.GetClient().List(ctx, &list, client.MatchingFields{valueField: value})
			return err == nil && len(list.Items) == want
		})
		if waited != nil {
			t.Errorf("%d sources of value %s in the cache, want %d (%v)", len(list.Items), value, want, err)
		}
	}
}

// checkSpans expects that both replicas reconciled, and never at the same time.
func checkSpans(t *testing.T, d *diary) {
	t.Helper()
	spans := slices.Clone(d.spans)
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.began.UnixNano(), b.began.UnixNano()) })
	ends, terms := map[int]time.Time{}, 1
	for i, one := range spans {
		if i > 0 && spans[i-1].replica != one.replica {
			terms++
		}
		for other, end := range ends {
			if other != one.replica && end.After(one.began) {
				t.Errorf("replica %d began to reconcile at %v, replica %d did so until %v", one.replica, one.began, other, end)
			}
		}
		if one.over.After(ends[one.replica]) {
			ends[one.replica] = one.over
		}
	}
	if len(ends) != 2 || terms != 2 {
		t.Errorf("%d replicas reconciled, in %d terms", len(ends), terms)
	}
}
