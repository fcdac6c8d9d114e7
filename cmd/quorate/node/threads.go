package node

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	runtimemetrics "runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A node with little to do runs its goroutines on one thread at a time, as with GOMAXPROCS=1, and
// otherwise on all. Go's scheduler wakes another thread for each goroutine that becomes ready while a
// core is unused, which costs more than most steps of a request, and moves them between caches. Both
// settings in turn, on two cores:
//
//   - one node: a create costs one client 689 µs instead of 883, and takes 0.94 ms instead of 1.09;
//     four clients 311 instead of 410. A get costs one client 129 instead of 178, and takes 0.17 ms
//     instead of 0.22.
//   - three nodes beside each other: a create costs one client 2,264 µs instead of 3,278, eight 1,258
//     instead of 1,546, and 32 clients 552 instead of 674.
//
// But with one thread a node with 32 clients makes 4,900 creates a second instead of 5,900, and beside
// lists of 10,000 objects the slowest 1 % of creates take 28 ms instead of 9. So one thread is for a
// load that leaves it time, and whose goroutines don't wait for it.
const (
	threadInterval = 500 * time.Millisecond // between two looks at the load
	// busyShare is the processor time, as a part of one core, from which one thread is not enough,
	// and quietShare that below which all threads are more than enough, for quietTime.
	busyShare  = 0.85
	quietShare = 0.7
	quietTime  = 3 * time.Second
	// A goroutine has waited long after longWait. So many in one interval show that one thread is not
	// enough, unless the threads themselves have waited for a core for scarceShare of the time: then
	// more threads would wait, too. It takes two such intervals within waitedTime.
	longWait    = 4 * time.Millisecond
	longWaits   = 3
	scarceShare = 0.1
	// waitedTime is how long there are all threads after that. It doubles, up to longestWaited, if one
	// thread was not enough again within that time.
	waitedTime    = 10 * time.Second
	longestWaited = 5 * time.Minute
)

// load is what a node did during an interval.
type load struct {
	length time.Duration
	used   time.Duration // processor time
	waits  uint64        // long ones of goroutines, for a thread
	scarce float64       // the part of the time in which threads waited for a core
}

// threadChoice decides between one thread and all.
type threadChoice struct {
	one   bool
	since time.Duration // the last change
	quiet time.Duration // how long all threads have been more than enough
	keep  time.Duration // how long there are all threads at least, after the last change
	hold  time.Duration // what keep was after the last long waits
}

// next returns whether there should be one thread after an interval.
func (c *threadChoice) next(l load) (one bool) {
	c.since += l.length
	used := float64(l.used) / float64(l.length)
	switch {
	case c.one && l.waits >= longWaits && l.scarce < scarceShare:
		if c.since < c.hold {
			c.hold = min(2*c.hold, longestWaited)
		} else {
			c.hold = waitedTime
		}
		c.change(c.hold)
	case c.one && used >= busyShare:
		c.change(0)
	case !c.one && used >= quietShare:
		c.quiet = 0
	case !c.one:
		if c.quiet += l.length; c.quiet >= quietTime && c.since >= c.keep {
			c.change(0)
		}
	}
	return c.one
}

func (c *threadChoice) change(keep time.Duration) {
	c.one, c.since, c.quiet, c.keep = !c.one, 0, 0, keep
}

// tuneThreads chooses between one thread and all until stop is called, which leaves all. It does
// nothing if the environment sets GOMAXPROCS, or if there is one core.
func tuneThreads(getenv func(string) (string, bool)) (stop func()) {
	if _, given := getenv("GOMAXPROCS"); given || runtime.GOMAXPROCS(0) == 1 {
		return func() {}
	}
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		followLoad(stopped)
		runtime.SetDefaultGOMAXPROCS()
	}()
	return func() {
		close(stopped)
		<-ended
	}
}

// followLoad sets GOMAXPROCS after each interval whose load asks for it.
func followLoad(stopped <-chan struct{}) {
	ticker := time.NewTicker(threadInterval)
	defer ticker.Stop()
	var c threadChoice
	m := newLoadMeter()
	for {
		select {
		case <-stopped:
			return
		case <-ticker.C:
		}
		before := c.one
		switch one := c.next(m.measure()); {
		case one == before:
		case one:
			runtime.GOMAXPROCS(1)
		default:
			runtime.SetDefaultGOMAXPROCS()
		}
	}
}

// loadMeter measures the load of this process.
type loadMeter struct {
	waiting []runtimemetrics.Sample // how long goroutines waited for a thread
	at      time.Time
	used    time.Duration
	waits   uint64

	delays   time.Duration // what threads had waited for a core
	delaysAt time.Time     // then
}

func newLoadMeter() *loadMeter {
	m := &loadMeter{waiting: []runtimemetrics.Sample{{Name: "/sched/latencies:seconds"}}}
	m.measure()
	return m
}

// measure returns the load since the last call. It looks how long the threads waited for a core only
// after intervals with long waits, because that takes as long as some requests. The first such
// interval counts as one without them, since there is nothing to compare with.
func (m *loadMeter) measure() load {
	now, used, waits := time.Now(), processorTime(), m.longWaits()
	l := load{length: now.Sub(m.at), used: used - m.used, waits: waits - m.waits}
	m.at, m.used, m.waits = now, used, waits
	if l.waits < longWaits {
		return l
	}
	delays, since := threadDelays(), now.Sub(m.delaysAt)
	if since > waitedTime {
		l.waits = 0
	} else {
		l.scarce = float64(delays-m.delays) / float64(since)
	}
	m.delays, m.delaysAt = delays, now
	return l
}

// longWaits returns how often goroutines have waited for at least longWait so far.
func (m *loadMeter) longWaits() (n uint64) {
	runtimemetrics.Read(m.waiting)
	h := m.waiting[0].Value.Float64Histogram()
	for i, count := range h.Counts {
		if h.Buckets[i] >= longWait.Seconds() && !math.IsInf(h.Buckets[i], -1) {
			n += count
		}
	}
	return n
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// threadDelays returns how long the threads of this process have waited for a core so far, 0 where
// the system does not say.
func threadDelays() (total time.Duration) {
	const tasks = "/proc/self/task"
	threads, _ := os.ReadDir(tasks) // none where the system does not have it
	for _, thread := range threads {
		content, err := os.ReadFile(filepath.Join(tasks, thread.Name(), "schedstat"))
		if err != nil {
			continue // the thread has ended
		}
		if fields := strings.Fields(string(content)); len(fields) > 1 {
			waited, _ := strconv.ParseInt(fields[1], 10, 64) // nanoseconds, a number in all versions of Linux
			total += time.Duration(waited)
		}
	}
	return total
}
