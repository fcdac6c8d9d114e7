package node

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The loads of a node, interval after interval, and the threads that it has after each.
func TestThreadChoice(t *testing.T) {
	const (
		idle   = iota
		middle // more than one thread should start with, less than it can do
		busy
		waits  // of goroutines, while cores are free
		scarce // the same, while they are not
		large  // live memory
		collectsBusy
		collectsWaits
		collectsSmall
		collectsLarge
	)
	loads := [...]load{
		idle:   {used: 0},
		middle: {used: 400 * time.Millisecond},
		busy:   {used: 450 * time.Millisecond},
		waits:  {used: 100 * time.Millisecond, waits: longWaits},
		scarce: {used: 100 * time.Millisecond, waits: 100 * longWaits, scarce: scarceShare},
		large:  {live: mostLive},

		collectsBusy:  {used: threadInterval, live: largeLive, collecting: true},
		collectsWaits: {waits: longWaits, live: mostLive - 1, collecting: true},
		collectsSmall: {used: threadInterval, live: largeLive - 1, collecting: true},
		collectsLarge: {live: mostLive, collecting: true},
	}
	// run returns the choices: 1 for one thread, A for all.
	run := func(c *threadChoice, count int, kind int) string {
		var b strings.Builder
		for range count {
			l := loads[kind]
			l.length = threadInterval
			if c.next(l) {
				b.WriteByte('1')
			} else {
				b.WriteByte('A')
			}
		}
		return b.String()
	}
	expect := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	all, one := func(n int) string { return strings.Repeat("A", n) }, func(n int) string { return strings.Repeat("1", n) }
	const settle, hold = int(quietTime / threadInterval), int(waitedTime / threadInterval)

	var c threadChoice
	expect("a node that starts", run(&c, settle, idle), all(settle-1)+"1")
	expect("a load for one thread", run(&c, 100, middle), one(100))
	expect("a load for more", run(&c, 1, busy), "A")
	expect("the same, less", run(&c, 100, middle), all(100))
	expect("quiet, interrupted", run(&c, settle-1, idle)+run(&c, 1, middle)+run(&c, settle, idle), all(2*settle-1)+"1")
	expect("goroutines that wait without free cores", run(&c, 100, scarce), one(100))
	expect("goroutines that wait", run(&c, 1, waits), "A")
	expect("quiet after it", run(&c, hold, idle), all(hold-1)+"1")
	expect("waits again at once", run(&c, 1, waits), "A")
	expect("quiet after it", run(&c, 2*hold, idle), all(2*hold-1)+"1")
	expect("waits later", run(&c, 3*hold, idle)+run(&c, 1, waits), one(3*hold)+"A")
	expect("quiet after it", run(&c, hold, idle), all(hold-1)+"1")
	expect("a large heap", run(&c, 1, large)+run(&c, 100, large), all(101))
	expect("a small one again", run(&c, settle, idle), all(settle-1)+"1")
	for range 20 {
		run(&c, 1, waits)
		for n := 1; run(&c, 1, idle) == "A"; n++ {
			if time.Duration(n)*threadInterval > longestWaited {
				t.Fatalf("all threads for more than %s", longestWaited)
			}
		}
	}
	expect("waits after many", run(&c, 1, waits), "A")
	expect("quiet after it", run(&c, int(longestWaited/threadInterval), idle), all(int(longestWaited/threadInterval)-1)+"1")

	for kind, longest := range map[int]int{collectsBusy: 2, collectsWaits: int((threadInterval + longestCollection - 1) / threadInterval)} {
		c = threadChoice{one: true}
		expect("collections", run(&c, longest, kind)+run(&c, 1, idle)+run(&c, longest, kind), one(2*longest+1))
		expect("one without end", run(&c, 1, kind), "A")
	}
	c = threadChoice{one: true}
	expect("busy in collections of a small heap", run(&c, 1, collectsSmall), "A")
	c = threadChoice{one: true}
	expect("a collection of a very large heap", run(&c, 1, collectsLarge), "A")
	expect("a small one again", run(&c, settle, idle), all(settle-1)+"1")
}

// A process has one thread after quiet intervals, all after a busy one, and all when the tuner ends.
func TestThreadTuner(t *testing.T) {
	runtime.SetDefaultGOMAXPROCS()
	all := runtime.GOMAXPROCS(0)
	if all == 1 {
		t.Skip("there is one core")
	}
	var used atomic.Int64
	stop := startTuner(func() load { return load{length: threadInterval, used: time.Duration(used.Load())} })
	defer runtime.SetDefaultGOMAXPROCS()
	eventually := func(what string, want int) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); runtime.GOMAXPROCS(0) != want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				stop()
				t.Fatalf("%s: %d threads after a minute, want %d", what, runtime.GOMAXPROCS(0), want)
			}
		}
	}
	eventually("quiet", 1)
	used.Store(int64(threadInterval))
	eventually("busy", all)
	used.Store(0)
	eventually("quiet again", 1)
	stop()
	if got := runtime.GOMAXPROCS(0); got != all {
		t.Errorf("%d threads after the end, want %d", got, all)
	}
	tuneThreads(func(name string) (string, bool) { return "2", name == "GOMAXPROCS" })()
}

// The meter sees that goroutines wait for a thread, and threads for a core; the latter with few cores
// only, and from one interval with waits to the next.
func TestLoadMeter(t *testing.T) {
	defer runtime.SetDefaultGOMAXPROCS()
	until := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !holds(); {
			if time.Now().After(deadline) {
				t.Fatalf("%s for a minute", what)
			}
		}
	}
	queue := func() { // more goroutines that compute than there can be threads that run
		var all sync.WaitGroup
		for range 8 * runtime.NumCPU() {
			all.Go(func() {
				for begun := time.Now(); time.Since(begun) < 4*longWait; {
				}
			})
		}
		all.Wait()
	}
	runtime.GOMAXPROCS(1)
	many, few := newLoadMeter(fewCores+1), newLoadMeter(fewCores)
	until("no waits", func() bool {
		queue()
		l := many.measure()
		return l.waits >= longWaits && l.used > 0 && l.length > 0 && l.live > 0 && l.scarce == 0
	})
	few.delaysAt = time.Time{}
	until("no waits", func() bool {
		queue()
		if l := few.measure(); l.waits >= longWaits {
			t.Fatalf("waits without a measurement before: %+v", l)
		}
		return !few.delaysAt.IsZero()
	})
	until("no waits in a second interval", func() bool {
		queue()
		return few.measure().waits >= longWaits
	})
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("the system does not say how long threads wait")
	}
	runtime.GOMAXPROCS(4 * runtime.NumCPU())
	before := threadDelays()
	until("no thread waits for a core", func() bool {
		queue()
		return threadDelays() > before+longWait
	})
}

// The meter sees a collection in the interval in which it ends and in those that it lasts.
func TestLoadMeterSeesCollections(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	m := newLoadMeter(fewCores)
	runtime.GC()
	if l := m.measure(); !l.collecting {
		t.Error("a collection that has ended is not seen")
	}
	content := make([]*[64]*byte, 1<<17) // 64 MiB to mark
	for i := range content {
		content[i] = new([64]*byte)
	}
	// Beginning and end are seen at any rate.
	for deadline, seen := time.Now().Add(time.Minute), 0; seen <= 2; {
		seen = 0
		m = newLoadMeter(fewCores)
		var collection sync.WaitGroup
		var ended atomic.Bool
		collection.Go(func() {
			runtime.GC()
			ended.Store(true)
		})
		for n := 0; n < len(m.others)/2 && !ended.Load(); { // more would seem to be one without end
			if m.measure().collecting {
				seen++
			}
			if seen > 0 {
				n++
			}
		}
		collection.Wait()
		if time.Now().After(deadline) {
			t.Fatal("a collection that lasts is not seen")
		}
	}
	runtime.KeepAlive(content)
}

// A pause at which a collection goes on misleads the meter only for some intervals.
func TestLoadMeterOutlivesRestarts(t *testing.T) {
	var m loadMeter
	expect := func(what string, pauses, ended uint64, want bool) {
		t.Helper()
		if got := m.collecting(pauses, ended); got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
	expect("a meter that starts, during a collection after others", 23, 10, true)
	expect("the collection goes on", 23, 10, false) // it is not known yet
	expect("the collection ends", 24, 11, true)
	expect("idle", 24, 11, false)
	expect("a collection begins", 25, 11, true)
	expect("it lasts", 25, 11, true)
	expect("it restarts", 26, 11, true)
	expect("it lasts", 26, 11, true)
	expect("it ends", 27, 12, true)
	for range m.others {
		m.collecting(27, 12)
	}
	expect("idle again", 27, 12, false)
	expect("a collection begins", 28, 12, true)
	expect("it lasts", 28, 12, true)
	expect("it ends, and another one begins and ends", 31, 14, true)
	expect("idle again", 31, 14, false)
	for range m.others {
		m.collecting(32, 14)
	}
	expect("a collection without end", 32, 14, false)
}
