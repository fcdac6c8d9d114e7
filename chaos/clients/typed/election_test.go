package typed_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"quorate/chaos/clients/internal/cluster"
	"quorate/chaos/nodes"
)

const (
	candidates = 3
	// A lease outlives the loss of a leader of the cluster with ease.
	leaseDuration = 20 * time.Second
	renewDeadline = 15 * time.Second
	retryPeriod   = 500 * time.Millisecond
)

// term is a time for which a candidate held itself to be the leader.
type term struct {
	who         int
	began, over time.Time
}

// terms are all of an election. The one that goes on has no end yet.
type terms struct {
	mu  sync.Mutex
	all []term
}

func (ts *terms) begin(who int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.all = append(ts.all, term{who: who, began: time.Now()})
}

// end ends a candidate's term, if it has not ended.
func (ts *terms) end(who int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for i := range ts.all {
		if ts.all[i].who == who && ts.all[i].over.IsZero() {
			ts.all[i].over = time.Now()
		}
	}
}

// current returns who leads now.
func (ts *terms) current() (who int, ok bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, one := range ts.all {
		if one.over.IsZero() {
			return one.who, true
		}
	}
	return 0, false
}

// leaderElection runs three candidates that elect one of them with a Lease. It kills the leader of
// the cluster three times, and then twice stops the candidate that holds the lease, after which
// another candidate must take over. Two candidates must never lead at once.
func leaderElection(ctx context.Context, t *testing.T, c *cluster.Cluster) {
	held := &terms{}
	var running sync.WaitGroup
	stops := map[int]func(){}
	for who, set := range clientsets(t, c)[:candidates] {
		lock := &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: "election"}, Client: set.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: fmt.Sprintf("candidate-%d", who)},
		}
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: lock, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
			ReleaseOnCancel: true, Name: "election",
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					held.begin(who)
					<-ctx.Done()
					held.end(who)
				},
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		candidate, cancel := context.WithCancel(ctx)
		stops[who] = func() {
			held.end(who) // work ends before the lease is given up
			cancel()
		}
		running.Go(func() {
			for candidate.Err() == nil {
				elector.Run(candidate) // returns when the lease is lost
			}
		})
	}
	defer func() {
		for _, stop := range stops {
			stop()
		}
		running.Wait()
	}()
	awaitLeader(ctx, t, held, -1)
	for range 3 {
		if err := c.KillLeader(ctx, t); err != nil {
			t.Fatal(err)
		}
		awaitRenewal(ctx, t, c, time.Now())
	}
	for range candidates - 1 {
		leader := awaitLeader(ctx, t, held, -1)
		stops[leader]()
		awaitLeader(ctx, t, held, leader)
	}
	checkTerms(t, held)
}

// awaitRenewal waits until the lease has been renewed after the given time.
func awaitRenewal(ctx context.Context, t *testing.T, c *cluster.Cluster, after time.Time) {
	t.Helper()
	leases := clientsets(t, c)[0].CoordinationV1().Leases(namespace)
	if err := nodes.Await(ctx, func() bool {
		lease, err := leases.Get(ctx, "election", metav1.GetOptions{})
		return err == nil && lease.Spec.RenewTime.After(after)
	}); err != nil {
		t.Fatalf("nobody renews the lease: %v", err)
	}
}

// awaitLeader waits until a candidate leads that is not the given one.
func awaitLeader(ctx context.Context, t *testing.T, held *terms, not int) (who int) {
	t.Helper()
	if err := nodes.Await(ctx, func() (ok bool) {
		who, ok = held.current()
		return ok && who != not
	}); err != nil {
		t.Fatalf("nobody leads: %v", err)
	}
	return who
}

// checkTerms expects no two terms at the same time.
func checkTerms(t *testing.T, held *terms) {
	t.Helper()
	held.mu.Lock()
	defer held.mu.Unlock()
	all := slices.Clone(held.all)
	slices.SortFunc(all, func(a, b term) int { return cmp.Compare(a.began.UnixNano(), b.began.UnixNano()) })
	for i, one := range all {
		t.Logf("candidate %d led from %v to %v", one.who, one.began.Format(time.StampMilli), one.over.Format(time.StampMilli))
		if i > 0 && (all[i-1].over.IsZero() || all[i-1].over.After(one.began)) {
			t.Errorf("candidate %d led while candidate %d did", one.who, all[i-1].who)
		}
	}
}
