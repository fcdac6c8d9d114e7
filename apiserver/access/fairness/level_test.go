package fairness

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// one returns a dispatcher with a single level.
func one(t testing.TB, seats int, change ...func(*Level)) *Dispatcher {
	t.Helper()
	l := Level{Name: "all", Share: 1, QueueLength: 1000, MaxWait: time.Minute}
	for _, f := range change {
		f(&l)
	}
	d, err := New(Config{Seats: seats, Levels: []Level{l}, Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *Dispatcher) waiting() int {
	_, n := (*d.levels.Load())[0].load()
	return n
}

// wantIdle checks that no seat is in use and nothing waits, in any queue.
func wantIdle(t *testing.T, d *Dispatcher) {
	t.Helper()
	for _, l := range *d.levels.Load() {
		if inUse, waiting := l.load(); inUse != 0 || waiting != 0 || l.busy != 0 {
			t.Errorf("level %s: %d seats in use, %d waiting, busy %b", l.config.Name, inUse, waiting, l.busy)
		}
		for i := range l.queues {
			if q := &l.queues[i]; q.inUse != 0 || !q.empty() {
				t.Errorf("level %s, queue %d: %d seats in use, empty %v", l.config.Name, i, q.inUse, q.empty())
			}
		}
	}
}

// enter takes a seat and fails the test if it is refused.
func enter(t *testing.T, d *Dispatcher, user string, cost int) *Seat {
	t.Helper()
	s := &Seat{}
	if err := d.Enter(t.Context(), &Request{User: user, Cost: cost}, s); err != nil {
		t.Fatalf("%s: %v", user, err)
	}
	return s
}

// TestBursts: a burst far beyond seats and queues leaves nothing counted, so the next one finds as
// much room.
func TestBursts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const seats, length, burst = 10, 3, 500
		d := one(t, seats, func(l *Level) { l.QueueLength, l.MaxWait = length, time.Second })
		for range 3 {
			served, full, late := 0, 0, 0
			errs := make(chan error, burst)
			for i := range burst {
				go func() {
					var s Seat
					err := d.Enter(t.Context(), &Request{User: "b"}, &s)
					if err == nil {
						time.Sleep(700 * time.Millisecond)
						if i%2 == 0 {
							s.BeginWait()
							err = s.EndWait(t.Context(), sliceBytes)
						}
						s.Leave()
						s.Leave()
					}
					errs <- err
				}()
			}
			synctest.Wait()
			if n := d.waiting(); n != handSize*length {
				t.Fatalf("%d wait, want %d", n, handSize*length)
			}
			for range burst {
				switch err := <-errs; {
				case err == nil:
					served++
				case errors.Is(err, ErrBusy):
					full++
				default:
					late++
				}
			}
			if served < 2*seats*9/10 || full == 0 || late != 0 {
				t.Errorf("%d served, %d refused, %d other errors", served, full, late)
			}
			wantIdle(t, d)
		}
	})
}

// TestWaitEnds: a request that waits ends with its context, and after MaxWait.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := one(t, 1, func(l *Level) { l.MaxWait = 5 * time.Second })
		holder := enter(t, d, "a", 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, tc := range []struct {
			ctx  context.Context
			want error
			took time.Duration
		}{{ctx, context.DeadlineExceeded, time.Second}, {t.Context(), ErrBusy, 5 * time.Second}} {
			begun := time.Now()
			var s Seat
			if err := d.Enter(tc.ctx, &Request{User: "b"}, &s); !errors.Is(err, tc.want) || time.Since(begun) != tc.took {
				t.Errorf("%v after %v, want %v after %v", err, time.Since(begun), tc.want, tc.took)
			}
			s.Leave()
			if n := d.waiting(); n != 0 {
				t.Errorf("%d wait", n)
			}
		}
		holder.Leave()
		enter(t, d, "b", 1).Leave()
		wantIdle(t, d)
	})
}

// TestGrantMeetsCancellation: seats that are granted at the moment at which the request gives up go
// to others.
func TestGrantMeetsCancellation(t *testing.T) {
	t.Parallel()
	for range 100 {
		d := one(t, 1)
		l := (*d.levels.Load())[0]
		holder := enter(t, d, "a", 1)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			var s Seat
			if d.Enter(ctx, &Request{User: "b"}, &s) == nil {
				s.Leave()
			}
		}()
		for d.waiting() == 0 {
			runtime.Gosched()
		}
		l.mu.Lock() // which the request needs to give up
		cancel()
		for range 100 {
			runtime.Gosched()
		}
		l.release(holder)
		l.mu.Unlock()
		<-done
		wantIdle(t, d)
	}
}

// TestOneFlowLeavesSeats: a flow that sends all it can leaves a part of the seats, so that another
// flow does not wait.
func TestOneFlowLeavesSeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const seats = 700
		d := one(t, seats, func(l *Level) { l.MaxWait = time.Minute })
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 * seats {
			go func() { // it never leaves by itself
				var s Seat
				if d.Enter(ctx, &Request{User: "heavy"}, &s) == nil {
					<-ctx.Done()
				}
				s.Leave()
			}()
		}
		synctest.Wait()
		if inUse := d.InUse(); inUse < seats*6/7-handSize || inUse > seats*6/7+handSize {
			t.Errorf("one flow has %d of %d seats", inUse, seats)
		}
		for i := range 50 {
			begun := time.Now()
			s := enter(t, d, fmt.Sprint("light", i), 1)
			if took := time.Since(begun); took != 0 {
				t.Errorf("a light flow waited %v", took)
			}
			s.Leave()
		}
		cancel()
		synctest.Wait()
		wantIdle(t, d)
	})
}

// TestCostlyRequestsLeaveSeats: a flow of requests of the greatest cost leaves seats, too, on any
// number of processors.
func TestCostlyRequestsLeaveSeats(t *testing.T) {
	t.Parallel()
	for i, seats := range []int{70, 70, 600, 600, 2000, 2000} {
		d := one(t, seats, func(l *Level) { l.QueueLength = 0 })
		highest := maxCost(seats, 1+i%2)
		(*d.levels.Load())[0].maxCost = highest
		var held []*Seat
		for {
			s := &Seat{}
			if d.Enter(t.Context(), &Request{User: "heavy", Cost: seats}, s) != nil {
				break
			}
			held = append(held, s)
		}
		if left := seats - d.InUse(); left < highest || highest > seats/(handSize+1) {
			t.Errorf("%d requests of %d seats leave %d of %d", len(held), highest, left, seats)
		}
		for _, s := range held {
			s.Leave()
		}
		wantIdle(t, d)
	}
}

// TestLightFlowIsNotDelayed checks the bound of start-time fair queueing for a flow that has a
// queue of its own and sends one request at a time: the request waits at most until each other
// queue has been granted two requests of the greatest cost, all of which hold their seats for the
// longest time. The bound does not depend on how many seats heavy flows request.
func TestLightFlowIsNotDelayed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { lightAndHeavy(t, rand.New(rand.NewPCG(seed, 14))) })
		})
	}
}

func lightAndHeavy(t *testing.T, r *rand.Rand) {
	const hold = time.Millisecond // the longest
	seats, heavies := 8+r.IntN(400), 1+r.IntN(8)
	d := one(t, seats, func(l *Level) { l.MaxWait = time.Minute })
	highest := (*d.levels.Load())[0].maxCost
	var used uint64
	for i := range heavies {
		used |= d.hand(fmt.Sprint("heavy", i))
	}
	light := "light"
	for n := 0; d.hand(light)&^used == 0; n++ { // one with a queue of its own, as nearly all have
		light = fmt.Sprint("light", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	senders := make(chan struct{}, heavies*2*seats)
	for i := range heavies {
		cost := 1 + r.IntN(2*highest) // beyond the greatest, too
		for range 2 * seats {
			wait := time.Duration(r.Int64N(int64(hold))) + 1
			go func() {
				defer func() { senders <- struct{}{} }()
				for ctx.Err() == nil {
					var s Seat
					if d.Enter(ctx, &Request{User: fmt.Sprint("heavy", i), Cost: cost}, &s) == nil {
						time.Sleep(wait)
					}
					s.Leave()
				}
			}()
		}
	}
	synctest.Wait()
	others := min(heavies*handSize, queueCount-1)
	rounds := (2*highest*others+seats-1)/seats + 1
	bound := time.Duration(rounds) * 2 * hold // a request that needs several seats waits for them for another round
	for range 100 {
		time.Sleep(time.Duration(r.Int64N(int64(3 * hold))))
		begun := time.Now()
		s := enter(t, d, light, 1)
		if took := time.Since(begun); took > bound {
			t.Fatalf("%d seats, %d heavy flows: a light flow waited %v, more than %v", seats, heavies, took, bound)
		}
		s.Leave()
	}
	cancel()
	for range heavies * 2 * seats {
		<-senders
	}
	wantIdle(t, d)
}

// hand returns a bit for each queue of a user.
func (d *Dispatcher) hand(user string) (set uint64) {
	deal(maphash.String(d.seed, user), func(i int) bool {
		set |= 1 << i
		return true
	})
	return set
}

// TestFlowsShareEvenly: of two flows that both send all they can, each gets half of the seats over
// time, although one sends ten times as much and its requests cost more.
func TestFlowsShareEvenly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const seats = 80
		d := one(t, seats, func(l *Level) { l.MaxWait = time.Minute })
		ctx, cancel := context.WithCancel(t.Context())
		granted := make([]int, 2)
		ended := make(chan struct{})
		count := make(chan int, 100)
		const few, many = 200, 2000
		users := [2]string{"few", "many"}
		for n := 0; d.hand(users[0])&d.hand(users[1]) != 0; n++ { // one in two pairs shares a queue
			users[1] = fmt.Sprint("many", n)
		}
		for i := range few + many {
			flow, cost := 0, 1
			if i >= few {
				flow, cost = 1, (*d.levels.Load())[0].maxCost
			}
			go func() {
				for ctx.Err() == nil {
					var s Seat
					if d.Enter(ctx, &Request{User: users[flow], Cost: cost}, &s) == nil {
						count <- flow
						time.Sleep(time.Millisecond)
					}
					s.Leave()
				}
				ended <- struct{}{}
			}()
		}
		for range 20000 {
			flow := <-count
			granted[flow] += []int{1, (*d.levels.Load())[0].maxCost}[flow]
		}
		cancel()
		for left := few + many; left > 0; {
			select {
			case <-count:
			case <-ended:
				left--
			}
		}
		if share := float64(granted[0]) / float64(granted[0]+granted[1]); share < 0.35 || share > 0.65 {
			t.Errorf("the flow of few requests got %.0f %% of the seats", 100*share)
		}
		wantIdle(t, d)
	})
}

// TestClose: requests that wait are refused, those with seats go on, also when they have lost them.
func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := one(t, 1)
		holder := enter(t, d, "a", 1)
		errs := make(chan error)
		for range 3 {
			go func() {
				var s Seat
				errs <- d.Enter(t.Context(), &Request{User: "b"}, &s)
			}()
		}
		synctest.Wait()
		d.Close()
		for range 3 {
			if err := <-errs; !errors.Is(err, ErrClosed) {
				t.Errorf("a request that waited got %v", err)
			}
		}
		var s Seat
		if err := d.Enter(t.Context(), &Request{User: "b"}, &s); !errors.Is(err, ErrClosed) {
			t.Errorf("a request that would have to wait got %v", err)
		}
		holder.BeginWait()
		time.Sleep(time.Second)
		if err := holder.EndWait(t.Context(), sliceBytes); err != nil {
			t.Error(err)
		}
		holder.Leave()
		enter(t, d, "b", 1).Leave()
		wantIdle(t, d)
	})
}
