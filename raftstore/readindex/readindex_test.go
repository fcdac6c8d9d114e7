package readindex_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"quorate/raftstore/readindex"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBatcher(t *testing.T) {
	t.Run("readers_waiting_together_share_one_confirmation", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var calls atomic.Uint64
			gate := make(chan struct{})
			b := readindex.NewBatcher(func(context.Context) (uint64, error) {
				n := calls.Add(1)
				<-gate
				return n, nil
			}, time.Minute, nil)
			var all sync.WaitGroup
			all.Go(func() { _ = b.Run(ctx) })

			first := make(chan uint64, 1)
			all.Go(func() { n, _ := b.Index(ctx); first <- n })
			synctest.Wait() // its confirmation is running
			later := make(chan uint64, 50)
			for range 50 {
				all.Go(func() { n, _ := b.Index(ctx); later <- n })
			}
			synctest.Wait()
			close(gate)
			if n := <-first; n != 1 {
				t.Errorf("first reader got confirmation %d", n)
			}
			for range 50 {
				// These readers arrived during the first confirmation, so they must not share it.
				if n := <-later; n != 2 {
					t.Fatalf("later reader got confirmation %d, want 2", n)
				}
			}
			cancel()
			all.Wait()
		})
	})

	t.Run("a_confirmation_that_hangs_ends_with_its_timeout", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			b := readindex.NewBatcher(func(ctx context.Context) (uint64, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			}, time.Second, nil)
			var all sync.WaitGroup
			all.Go(func() { _ = b.Run(ctx) })
			if _, err := b.Index(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			cancel()
			all.Wait()
		})
	})

	t.Run("stopping_answers_those_who_wait_and_those_who_come", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		b := readindex.NewBatcher(nil, time.Second, nil)
		got := make(chan error, 1)
		go func() { _, err := b.Index(t.Context()); got <- err }()
		if err := b.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if err := <-got; !errors.Is(err, readindex.ErrStopped) {
			t.Errorf("waiting reader got %v", err)
		}
		if _, err := b.Index(t.Context()); !errors.Is(err, readindex.ErrStopped) {
			t.Errorf("late reader got %v", err)
		}
	})
}

// TestIndexWithin checks that a reader waits no longer than its limit, and that the timers of former
// readers limit no other one.
func TestIndexWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = time.Second
		delay := time.Duration(0)
		b := readindex.NewBatcher(func(ctx context.Context) (uint64, error) {
			time.Sleep(delay)
			return 7, nil
		}, time.Hour, nil)
		if _, err := b.IndexWithin(t.Context(), limit); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without Run: %v", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = b.Run(ctx) })
		synctest.Wait()
		for i := range 20 {
			delay = time.Duration(i%2) * (limit - 1)
			if index, err := b.IndexWithin(t.Context(), limit); index != 7 || err != nil {
				t.Fatalf("reader %d: %d, %v", i, index, err)
			}
		}
		delay = 2 * limit
		start := time.Now()
		if _, err := b.IndexWithin(t.Context(), limit); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != limit {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		stop()
		running.Wait()
		if _, err := b.IndexWithin(t.Context(), limit); !errors.Is(err, readindex.ErrStopped) {
			t.Errorf("after Run: %v", err)
		}
	})
}

func TestApplied(t *testing.T) {
	t.Run("wakes_at_the_target_and_not_before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var a readindex.Applied
			var woken atomic.Int64
			var all sync.WaitGroup
			for index := uint64(1); index <= 100; index++ {
				all.Go(func() {
					if err := a.Await(t.Context(), index); err == nil {
						woken.Add(1)
					}
				})
			}
			synctest.Wait()
			for _, reached := range []uint64{1, 1, 40, 39, 100} {
				a.Advance(reached)
				synctest.Wait()
				want := int64(a.Index())
				if woken.Load() != want {
					t.Fatalf("at %d: %d woken, want %d", reached, woken.Load(), want)
				}
			}
			all.Wait()
		})
	})

	t.Run("giving_up_leaves_nothing_behind", func(t *testing.T) {
		var a readindex.Applied
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := a.Await(ctx, 7); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if a.Waiting() != 0 {
			t.Errorf("%d still wait", a.Waiting())
		}
	})

	t.Run("stopping_wakes_those_who_wait_and_those_who_come", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var a readindex.Applied
			a.Advance(3)
			got := make(chan error, 1)
			go func() { got <- a.Await(t.Context(), 4) }()
			synctest.Wait()
			a.Stop()
			if err := <-got; !errors.Is(err, readindex.ErrStopped) {
				t.Errorf("waiting: %v", err)
			}
			if err := a.Await(t.Context(), 4); !errors.Is(err, readindex.ErrStopped) {
				t.Errorf("late: %v", err)
			}
			if err := a.Await(t.Context(), 3); err != nil {
				t.Errorf("reached: %v", err)
			}
		})
	})

	t.Run("no_wake_up_is_lost", func(t *testing.T) {
		var a readindex.Applied
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for index := uint64(1); index <= 2000; index++ {
					if err := a.Await(t.Context(), index); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for index := uint64(1); index <= 2000; index++ {
			a.Advance(index)
		}
		all.Wait()
	})
}

func BenchmarkAppliedReached(b *testing.B) {
	var a readindex.Applied
	a.Advance(10)
	b.ReportAllocs()
	for b.Loop() {
		_ = a.Await(b.Context(), 10)
	}
}
