package fairness

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestLightFlowOvertakesLists: a flow without seats gets one although a costly request of another
// flow waits for more seats than are free, and such requests do not keep the costly one waiting.
func TestLightFlowOvertakesLists(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const seats, flows = 700, 300
		d := one(t, seats)
		l := (*d.levels.Load())[0]
		l.maxCost = seats / (handSize + 1)
		ctx, cancel := context.WithCancel(t.Context())
		var held []*Seat
		for i := 0; l.free >= l.maxCost; i++ { // flows of costly requests have all seats that they may have
			held = append(held, enter(t, d, fmt.Sprint("list", i), l.maxCost-13)) // and leave 91
		}
		costly := make(chan time.Duration, 1)
		begun := time.Now()
		go func() {
			s := enter(t, d, "costly", l.maxCost)
			costly <- time.Since(begun)
			s.Leave()
		}()
		synctest.Wait()
		l.virtual += 100 * uint64(l.maxCost) // as after many grants
		for i := range flows {
			go func() {
				for ctx.Err() == nil {
					var s Seat
					if d.Enter(ctx, &Request{User: fmt.Sprint("light", i)}, &s) == nil {
						time.Sleep(time.Millisecond)
					}
					s.Leave()
				}
			}()
		}
		other := "other" // which cannot get behind the costly request in a queue
		for n := 0; d.hand(other)&d.hand("costly") != 0; n++ {
			other = fmt.Sprint("other", n)
		}
		waited := time.Duration(0)
		for range 20 {
			time.Sleep(time.Millisecond)
			begun := time.Now()
			s := enter(t, d, other, 1)
			waited = max(waited, time.Since(begun))
			s.Leave()
		}
		if most := flows / queueCount * 2 * time.Millisecond; waited > most {
			t.Errorf("a light flow waited %v, more than %v", waited, most)
		}
		if len(costly) > 0 {
			t.Fatal("the costly request had seats all the time")
		}
		for _, s := range held {
			s.Leave()
		}
		time.Sleep(10 * time.Millisecond)
		if len(costly) == 0 {
			t.Error("the costly request waits although the seats that it needs have been released")
		}
		cancel()
		synctest.Wait()
		time.Sleep(time.Second)
		wantIdle(t, d)
	})
}
