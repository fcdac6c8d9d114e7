package budget_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/access/budget"
)

// refusals are the bounds of a queue's refusals, in their order.
type refusals struct {
	mu     sync.Mutex
	bounds []budget.Bound
}

func (r *refusals) add(b budget.Bound) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bounds = append(r.bounds, b)
}

func (r *refusals) all() []budget.Bound {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.bounds)
}

// queueOf100 returns a queue of 100 units that adds its refusals to refused.
func queueOf100(refused *refusals) *budget.Queue {
	return budget.NewQueue(budget.QueueConfig{
		Total: 100, PerUser: 60, Waiters: 4, WaitersPerUser: 2, MaxWait: 10 * time.Second, Refused: refused.add,
	})
}

func acquire(t *testing.T, q *budget.Queue, user string, n int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := q.Acquire(ctx, user, n); err != nil {
		t.Fatalf("%d of %s: %v", n, user, err)
	}
}

func TestQueueServesUsersInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var refused refusals
		q := queueOf100(&refused)
		acquire(t, q, "ann", 60)
		acquire(t, q, "bob", 40)
		var order []string
		var wg sync.WaitGroup
		wait := func(name, user string, n int64) {
			wg.Go(func() {
				if err := q.Acquire(t.Context(), user, n); err != nil {
					t.Error(err)
				}
				order = append(order, name) // one at a time: what follows waits until it is released
			})
			synctest.Wait()
		}
		wait("ann 1", "ann", 90)
		wait("ann 2", "ann", 90)
		wait("bob 1", "bob", 90)
		if q.Waiters() != 3 {
			t.Fatalf("%d wait", q.Waiters())
		}
		q.Release("ann", 60)
		q.Release("bob", 40)
		synctest.Wait()
		for _, next := range []string{"ann", "bob", "ann"} {
			q.Release(next, 90)
			synctest.Wait()
		}
		wg.Wait()
		if want := []string{"ann 1", "bob 1", "ann 2"}; !slices.Equal(order, want) {
			t.Errorf("served %v, want %v", order, want)
		}
		if q.Used() != 0 || q.Waiters() != 0 || len(refused.all()) != 0 {
			t.Errorf("%d used, %d wait, refused %v", q.Used(), q.Waiters(), refused.all())
		}
	})
}

// TestQueueSharesAmongUsers: a user who has its share waits, and others pass.
func TestQueueSharesAmongUsers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var refused refusals
		q := queueOf100(&refused)
		acquire(t, q, "ann", 50)
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 1)
		go func() { errs <- q.Acquire(ctx, "ann", 20) }()
		synctest.Wait()
		acquire(t, q, "bob", 40)
		cancel()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("want the error of the context, got %v", err)
		}
		q.Release("ann", 50)
		q.Release("bob", 40)
		if q.Used() != 0 || q.Waiters() != 0 {
			t.Errorf("%d used, %d wait", q.Used(), q.Waiters())
		}
	})
}

func TestQueueRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var refused refusals
		q := queueOf100(&refused)
		acquire(t, q, "root", 1000) // alone
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				if err := q.Acquire(t.Context(), fmt.Sprint("user ", i/2), 1); !errors.Is(err, budget.ErrBusy) {
					t.Errorf("after the longest wait: %v", err)
				}
			})
		}
		synctest.Wait()
		for _, user := range []string{"user 0", "eve"} {
			if err := q.Acquire(t.Context(), user, 1); !errors.Is(err, budget.ErrBusy) {
				t.Errorf("%s: %v", user, err)
			}
		}
		if want := []budget.Bound{budget.User, budget.Total}; !slices.Equal(refused.all(), want) {
			t.Errorf("refused by %v, want %v", refused.all(), want)
		}
		wg.Wait()
		if want := []budget.Bound{budget.User, budget.Total, budget.Waiting, budget.Waiting, budget.Waiting, budget.Waiting}; !slices.Equal(refused.all(), want) {
			t.Errorf("refused by %v, want %v", refused.all(), want)
		}
		q.Release("root", 1000)
		acquire(t, q, "eve", 100)
		q.Release("eve", 100)
	})
}

// TestQueueServesTheLargeOnes: small amounts do not overtake one that waits for much.
func TestQueueServesTheLargeOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var refused refusals
		q := queueOf100(&refused)
		acquire(t, q, "ann", 30)
		served := make(chan struct{})
		go func() {
			if err := q.Acquire(t.Context(), "bob", 90); err != nil {
				t.Error(err)
			}
			close(served)
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Acquire(ctx, "eve", 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a small amount passed: %v", err)
		}
		q.Release("ann", 30)
		<-served
		q.Release("bob", 90)
	})
}

func BenchmarkQueue(b *testing.B) {
	q := budget.NewQueue(budget.QueueConfig{Total: 1 << 30, PerUser: 1 << 29, Waiters: 8, WaitersPerUser: 4, MaxWait: time.Second})
	user := "system:serviceaccount:default:builder"
	b.ReportAllocs()
	for b.Loop() {
		if err := q.Acquire(b.Context(), user, 512); err != nil {
			b.Fatal(err)
		}
		q.Release(user, 512)
	}
}
