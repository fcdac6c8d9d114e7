package fairness

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestWaitingForTheClient: a holder that waits for its client loses its seat to others, and takes
// one again before it goes on, ahead of requests that have not begun.
func TestWaitingForTheClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := one(t, 1)
		slow := enter(t, d, "slow", 1)
		slow.BeginWait()
		begun := time.Now()
		other := enter(t, d, "other", 1)
		if took := time.Since(begun); took != patience {
			t.Errorf("another request waited %v, want %v", took, patience)
		}
		fresh := make(chan *Seat)
		go func() { fresh <- enter(t, d, "slow", 1) }()
		synctest.Wait()
		resumed := make(chan error)
		go func() { resumed <- slow.EndWait(t.Context(), sliceBytes) }()
		synctest.Wait()
		other.Leave()
		if err := <-resumed; err != nil || !slow.held {
			t.Errorf("resumed with %v, held %v", err, slow.held)
		}
		slow.Leave()
		(<-fresh).Leave()
		wantIdle(t, d)
	})
}

// TestShortWait: a holder that waits for a moment only keeps its seat, unless others wait.
func TestShortWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := one(t, 1)
		s := enter(t, d, "a", 1)
		for range 5 {
			s.BeginWait()
			time.Sleep(patience - 1)
			if err := s.EndWait(t.Context(), sliceBytes); err != nil || !s.held {
				t.Fatalf("%v, held %v", err, s.held)
			}
			time.Sleep(2 * patience) // work; no timer of the wait may come now
			if d.InUse() != 1 {
				t.Fatal("a seat was lost while the request did not wait")
			}
		}
		granted := make(chan *Seat)
		go func() { granted <- enter(t, d, "b", 1) }()
		synctest.Wait()
		s.BeginWait()
		ended := make(chan error)
		go func() { ended <- s.EndWait(t.Context(), sliceBytes) }()
		other := <-granted // between two slices of the first
		other.Leave()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.Leave()
		wantIdle(t, d)
	})
}

// TestSlice: others go first after a slice, not after each piece of it.
func TestSlice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := one(t, 1)
		s := enter(t, d, "a", 1)
		var served atomic.Bool
		go func() {
			other := enter(t, d, "b", 1)
			served.Store(true)
			other.Leave()
		}()
		synctest.Wait()
		const pieces = 8
		for i := range pieces {
			if served.Load() {
				t.Fatalf("another request was served after %d of %d pieces of a slice", i, pieces)
			}
			s.BeginWait()
			if err := s.EndWait(t.Context(), sliceBytes/pieces); err != nil {
				t.Fatal(err)
			}
		}
		if !served.Load() {
			t.Error("no other request was served after a slice")
		}
		s.Leave()
		wantIdle(t, d)
	})
}

// TestLeaveWhileSeatsAreLost: a request that ends without seats returns none, and one whose context
// ends while it waits for them again holds nothing.
func TestLeaveWhileSeatsAreLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := one(t, 1)
		s := enter(t, d, "a", 1)
		s.BeginWait()
		time.Sleep(2 * patience)
		if d.InUse() != 0 {
			t.Error("the seat was not lost")
		}
		s.Leave()
		wantIdle(t, d)

		gone := enter(t, d, "a", 1)
		gone.BeginWait()
		time.Sleep(2 * patience)
		other := enter(t, d, "b", 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := gone.EndWait(ctx, sliceBytes); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		gone.Leave()
		if d.InUse() != 1 {
			t.Errorf("%d seats in use", d.InUse())
		}
		other.Leave()
		wantIdle(t, d)
		var zero Seat
		zero.BeginWait()
		if err := zero.EndWait(ctx, sliceBytes); err != nil {
			t.Error(err)
		}
		zero.Leave()
	})
}
