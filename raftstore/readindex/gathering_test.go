package readindex_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quorate/raftstore/readindex"
)

// confirmTime is how long the confirmations of these tests take.
const confirmTime = 200 * time.Microsecond

// clocked is a Batcher whose confirmations take confirmTime and return when they began, in
// nanoseconds since the test did.
type clocked struct {
	*readindex.Batcher
	began   time.Time
	running sync.WaitGroup
	stop    context.CancelFunc

	mu     sync.Mutex
	groups []int // the readers of each confirmation
}

func startClocked(t *testing.T) *clocked {
	c := &clocked{began: time.Now()}
	c.Batcher = readindex.NewBatcher(func(context.Context) (uint64, error) {
		at := time.Since(c.began)
		time.Sleep(confirmTime)
		return uint64(at), nil
	}, time.Second, func(readers int, _ time.Duration) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.groups = append(c.groups, readers)
	})
	var ctx context.Context
	ctx, c.stop = context.WithCancel(t.Context())
	c.running.Go(func() { _ = c.Run(ctx) })
	return c
}

// end stops Run and returns the average number of readers of a confirmation.
func (c *clocked) end() float64 {
	c.stop()
	c.running.Wait()
	total := 0
	for _, readers := range c.groups {
		total += readers
	}
	return float64(total) / float64(len(c.groups))
}

// read makes a read, whose confirmation must not have begun before it, and returns how long it took.
func (c *clocked) read(t *testing.T) time.Duration {
	start := time.Since(c.began)
	index, err := c.Index(t.Context())
	if err != nil || index < uint64(start) {
		t.Errorf("a read at %s got the confirmation of %s, %v", start, time.Duration(index), err)
	}
	return time.Since(c.began) - start
}

// TestReadersGather has clients that send the next read soon after the last: they share
// confirmations, instead of one half of them waiting for those of the other.
func TestReadersGather(t *testing.T) {
	for _, clients := range []int{2, 4, 11} {
		synctest.Test(t, func(t *testing.T) {
			c := startClocked(t)
			var all sync.WaitGroup
			for i := range clients {
				random := rand.New(rand.NewPCG(uint64(i), 1))
				all.Go(func() {
					for range 500 {
						c.read(t)
						time.Sleep(time.Duration(random.Int64N(int64(confirmTime))))
					}
				})
			}
			all.Wait()
			if average := c.end(); average < 0.8*float64(clients) {
				t.Errorf("%d clients: %.1f readers share a confirmation", clients, average)
			}
		})
	}
}

// TestFewReadersDoNotWait has one client, whose reads take a confirmation and no more.
func TestFewReadersDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startClocked(t)
		defer c.end()
		for range 50 {
			if took := c.read(t); took != confirmTime {
				t.Fatalf("a read took %s", took)
			}
		}
	})
}

// TestRandomReadersRarelyWait has reads at random times, one in the time of a confirmation. Waiting
// would slow all of them down, and bring few together.
func TestRandomReadersRarelyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startClocked(t)
		random := rand.New(rand.NewPCG(1, 2))
		const reads = 5000
		var mu sync.Mutex
		var total time.Duration
		var all sync.WaitGroup
		for range reads {
			time.Sleep(time.Duration(random.ExpFloat64() * float64(confirmTime)))
			all.Go(func() {
				took := c.read(t)
				mu.Lock()
				defer mu.Unlock()
				total += took
			})
		}
		all.Wait()
		c.end()
		if average := total / reads; average > confirmTime*3/2 {
			t.Errorf("a read takes %s, a confirmation %s", average, confirmTime)
		}
	})
}

// gather has eight clients read for the time of a hundred confirmations.
func (c *clocked) gather(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for start := time.Now(); time.Since(start) < 100*confirmTime; {
				c.read(t)
			}
		})
	}
	all.Wait()
}

// TestAbsentReaders has clients of which all but one leave. The wait for them is bounded, and is not
// repeated for long.
func TestAbsentReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startClocked(t)
		defer c.end()
		c.gather(t)
		if took := c.read(t); took <= confirmTime || took > 5*confirmTime {
			t.Errorf("the first read without the others took %s", took)
		}
		total := time.Duration(0)
		for range 200 {
			total += c.read(t)
		}
		if total > 240*confirmTime {
			t.Errorf("200 reads without the others took %s", total)
		}
	})
}

// TestStopWhileReadersGather stops a Batcher while a read waits for others.
func TestStopWhileReadersGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startClocked(t)
		c.gather(t)
		errs := make(chan error, 1)
		go func() {
			_, err := c.Index(t.Context())
			errs <- err
		}()
		synctest.Wait() // it waits for the others
		ended := time.Now()
		c.end()
		if err := <-errs; !errors.Is(err, readindex.ErrStopped) || time.Since(ended) != 0 {
			t.Errorf("a waiting read: %v after %s", err, time.Since(ended))
		}
	})
}
