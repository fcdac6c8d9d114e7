package fairness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// loaded returns a dispatcher with a single level, whose adjuster has one processor, and the number
// of runnable goroutines that it sees.
func loaded(t *testing.T, seats int) (*Dispatcher, *atomic.Int64) {
	t.Helper()
	var runnable atomic.Int64
	reg := prometheus.NewRegistry()
	a := newAdjuster(reg, 1, func() int { return int(runnable.Load()) })
	l := Level{Name: "all", Share: 1, QueueLength: 1000, MaxWait: time.Minute}
	d, err := New(Config{Seats: seats, Levels: []Level{l}, Adjuster: a, Registerer: reg})
	if err != nil {
		t.Fatal(err)
	}
	return d, &runnable
}

// pass lets requests of flows come and go, one in each millisecond.
func pass(t *testing.T, d *Dispatcher, during time.Duration, flows ...string) {
	t.Helper()
	for i := range int(during / time.Millisecond) {
		enter(t, d, flows[i%len(flows)], 1).Leave()
		time.Sleep(time.Millisecond)
	}
}

// TestAdjuster: flows may use fewer seats while goroutines wait for processors, and all of them once
// they no longer do, or once a flow is alone.
func TestAdjuster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const seats = 1000
		d, runnable := loaded(t, seats)
		usable := func() int { return d.adjuster.usable(seats) }
		expect := func(when string, want int) {
			t.Helper()
			if got := usable(); got != want {
				t.Errorf("%s %d seats are usable, want %d", when, got, want)
			}
		}
		runnable.Store(1000)
		pass(t, d, time.Second, "heavy")
		expect("for a flow that is alone", seats)
		pass(t, d, time.Second, "heavy", "light")
		expect("under load", minUsable)
		runnable.Store(maxRunnable)
		pass(t, d, 300*time.Millisecond, "heavy", "light")
		if n := usable(); n <= 2*minUsable || n >= seats {
			t.Errorf("%d seats are usable soon after the load, want some more than %d", n, minUsable)
		}
		pass(t, d, time.Second, "heavy", "light")
		expect("without load", seats)
		runnable.Store(1000)
		pass(t, d, time.Second, "heavy", "light")
		pass(t, d, aloneAfter-10*time.Millisecond, "heavy")
		expect("before a flow is alone", minUsable)
		pass(t, d, 20*time.Millisecond, "heavy")
		expect("for a flow that is alone again", seats)
	})
}

// TestBurstsAreNoLoad: goroutines that become runnable together, as those that wait for a commit,
// do not take seats from flows if they have run before the next ones.
func TestBurstsAreNoLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const seats = 1000
		d, runnable := loaded(t, seats)
		for range 100 {
			for left := 900; left >= 0; left -= 100 { // a burst, and what is left of it
				runnable.Store(int64(left))
				pass(t, d, time.Millisecond, fmt.Sprint("flow", left%3))
			}
			time.Sleep(20 * time.Millisecond) // for the disk
		}
		if n := d.adjuster.usable(seats); n != seats {
			t.Errorf("%d seats are usable, want %d", n, seats)
		}
	})
}

// TestLightFlowUnderLoad: while a heavy flow has more seats than flows may use, it gets no more, and
// another flow does not wait.
func TestLightFlowUnderLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const seats = 700
		d, runnable := loaded(t, seats)
		ctx, cancel := context.WithCancel(t.Context())
		var holds atomic.Int64 // milliseconds
		holds.Store(300)
		for range seats {
			go func() {
				for ctx.Err() == nil {
					var s Seat
					if d.Enter(ctx, &Request{User: "heavy"}, &s) == nil {
						time.Sleep(time.Duration(holds.Load()) * time.Millisecond)
					}
					s.Leave()
				}
			}()
		}
		synctest.Wait()
		before := d.InUse()
		runnable.Store(1000)
		for range 1000 {
			begun := time.Now()
			s := enter(t, d, "light", 1)
			if took := time.Since(begun); took != 0 {
				t.Errorf("a light flow waited %v while %d seats were in use", took, d.InUse())
			}
			s.Leave()
			time.Sleep(time.Millisecond)
		}
		if after := d.InUse(); before < seats/2 || after > minUsable {
			t.Errorf("a heavy flow has %d seats without load, and %d with it, want more than %d and at most %d",
				before, after, seats/2, minUsable)
		}
		runnable.Store(0)
		holds.Store(10)
		pass(t, d, 3*time.Second, "light")
		if now := d.InUse(); now < seats/2 {
			t.Errorf("a heavy flow has %d seats after the load, want more than %d", now, seats/2)
		}
		cancel()
		time.Sleep(time.Minute)
		wantIdle(t, d)
	})
}

// TestNothingIsForgottenUnderLoad: whatever the load, all requests are served, each flow has at
// least a seat, and the seats in use never exceed those of the level.
func TestNothingIsForgottenUnderLoad(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { mixtureUnderLoad(t, rand.New(rand.NewPCG(seed, 14))) })
		})
	}
}

func mixtureUnderLoad(t *testing.T, r *rand.Rand) {
	seats, flows := 1+r.IntN(300), 1+r.IntN(5)
	d, runnable := loaded(t, seats)
	const requests = 300
	served := make(chan error, flows*requests)
	for flow := range flows {
		for range requests {
			begin, hold := time.Duration(r.IntN(1000))*time.Millisecond, time.Duration(r.IntN(20))*time.Millisecond
			cost, resumes := 1+r.IntN(1+r.IntN(seats)), r.IntN(3) == 0
			go func() {
				time.Sleep(begin)
				var s Seat
				err := d.Enter(t.Context(), &Request{User: fmt.Sprint(flow), Cost: cost}, &s)
				if err == nil {
					time.Sleep(hold)
					if resumes {
						s.BeginWait()
						time.Sleep(2 * hold) // it may lose its seats
						err = s.EndWait(t.Context(), sliceBytes)
						time.Sleep(hold)
					}
				}
				s.Leave()
				served <- err
			}()
		}
	}
	for left := flows * requests; left > 0; {
		runnable.Store(r.Int64N(30))
		select {
		case err := <-served:
			left--
			if err != nil {
				t.Fatalf("%d seats, %d flows: %v", seats, flows, err)
			}
		case <-time.After(5 * time.Millisecond):
		}
		if n := d.InUse(); n > seats {
			t.Fatalf("%d of %d seats are in use", n, seats)
		}
	}
	wantIdle(t, d)
}

// TestRunnableIsSampled: the runtime has the metric.
func TestRunnableIsSampled(t *testing.T) {
	a := NewAdjuster(prometheus.NewRegistry())
	var stop atomic.Bool
	var busy sync.WaitGroup
	defer busy.Wait()
	defer stop.Store(true)
	for range 4 * a.processors {
		busy.Go(func() {
			for !stop.Load() {
			}
		})
	}
	for begun := time.Now(); a.runnable() == 0; {
		if time.Since(begun) > time.Minute {
			t.Fatal("no goroutine is seen to be runnable")
		}
	}
}

// BenchmarkSample is what a request costs that takes a sample.
func BenchmarkSample(b *testing.B) {
	a := NewAdjuster(prometheus.NewRegistry())
	b.ReportAllocs()
	for b.Loop() {
		a.sample(0)
	}
}
