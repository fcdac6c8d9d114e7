package node

import (
	"os"
	"path/filepath"
	"runtime"
	runtimemetrics "runtime/metrics"
	"slices"
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
	// A goroutine has waited long after longWait. So many waits in one interval, of those that the
	// runtime samples (one in eight), show that one thread is not enough. With two cores the threads
	// must also have found one: if they have waited for cores for scarceShare of the time, because of
	// other processes, then more threads would wait, too. That takes two such intervals within
	// waitedTime.
	longWait    = 4 * time.Millisecond
	longWaits   = 3
	scarceShare = 0.1
	fewCores    = 2
	// The collection of a large heap, from largeLive bytes on, takes processor time and lets
	// goroutines wait, with all threads nearly as long as with one. So while a node has one thread,
	// neither counts during one: for as long as a collection of that much takes with one thread,
	// which is at most longestCollection at mostLive. After that they count, because then there is
	// garbage all the time.
	largeLive         = 96 << 20
	longestCollection = 3 * time.Second
	// mostLive is the live memory, in bytes, from which there are all threads: with one, a collection
	// would take long, and a change of the number of threads waits for its end.
	mostLive = 512 << 20
	// waitedTime is how long there are all threads after that. It doubles, up to longestWaited, if one
	// thread was not enough again within that time.
	waitedTime    = 10 * time.Second
	longestWaited = 5 * time.Minute
)

// load is what a node did during an interval.
type load struct {
	length time.Duration
	used   time.Duration // processor time
	waits  uint64        // sampled long ones of goroutines, for a thread
	scarce float64       // for how much of the time threads have waited for a core, all together
	live   uint64        // bytes of memory after the last collection
	// collecting is whether a garbage collection was under way.
	collecting bool
}

// threadChoice decides between one thread and all.
type threadChoice struct {
	one   bool
	since time.Duration // the last change
	quiet time.Duration // how long all threads have been more than enough
	keep  time.Duration // how long there are all threads at least, after the last change
	hold  time.Duration // what keep was after the last long waits
	// collecting is how long there have been collections of a large heap in each interval.
	collecting time.Duration
}

// next returns whether there should be one thread after an interval.
func (c *threadChoice) next(l load) (one bool) {
	c.since += l.length
	c.collecting += l.length
	if !l.collecting || l.live < largeLive {
		c.collecting = 0
	}
	used := float64(l.used) / float64(l.length)
	switch {
	case c.one && l.live < mostLive && c.collecting > 0 && c.collecting <= collectionTime(l.live):
	case c.one && l.waits >= longWaits && l.scarce < scarceShare:
		if c.since < c.hold+waitedTime {
			c.hold = min(2*c.hold, longestWaited)
		} else {
			c.hold = waitedTime
		}
		c.change(c.hold)
	case c.one && (used >= busyShare || l.live >= mostLive):
		c.change(0)
	case !c.one && (used >= quietShare || l.live >= mostLive):
		c.quiet = 0
	case !c.one:
		if c.quiet += l.length; c.quiet >= quietTime && c.since >= c.keep {
			c.change(0)
		}
	}
	return c.one
}

// collectionTime returns the longest time that one thread takes to collect with so many live bytes,
// and an interval more, since a collection may begin in the middle of one.
func collectionTime(live uint64) time.Duration {
	return threadInterval + longestCollection*time.Duration(live>>20)/(mostLive>>20)
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
	return startTuner(newLoadMeter(runtime.GOMAXPROCS(0)).measure)
}

// startTuner chooses the threads by what measure returns, until stop is called.
func startTuner(measure func() load) (stop func()) {
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		followLoad(stopped, measure)
		runtime.SetDefaultGOMAXPROCS()
	}()
	return func() {
		close(stopped)
		<-ended
	}
}

// followLoad sets GOMAXPROCS after each interval whose load asks for it. That waits for the end of a
// garbage collection.
func followLoad(stopped <-chan struct{}, measure func() load) {
	ticker := time.NewTicker(threadInterval)
	defer ticker.Stop()
	var c threadChoice
	for {
		select {
		case <-stopped:
			return
		case <-ticker.C:
		}
		before := c.one
		switch one := c.next(measure()); {
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
	cores   int
	samples []runtimemetrics.Sample // how long goroutines waited for a thread, and the live memory
	at      time.Time
	used    time.Duration
	waits   uint64

	pauses uint64 // of collections, each of which has one at its beginning and one at its end
	// others are, after each of the last intervals, the pauses besides those of collections that had
	// ended: seldom a collection has more than two, and if one is under way it has had its first.
	others   [20]int64
	interval int

	delays   time.Duration // what threads had waited for a core
	delaysAt time.Time     // then
}

func newLoadMeter(cores int) *loadMeter {
	m := &loadMeter{cores: cores, samples: []runtimemetrics.Sample{{Name: "/sched/latencies:seconds"}, {Name: "/gc/heap/live:bytes"}, {Name: "/sched/pauses/total/gc:seconds"}, {Name: "/gc/cycles/total:gc-cycles"}}}
	m.measure()
	return m
}

// measure returns the load since the last call. It looks how long the threads waited for a core only
// with few cores and after intervals with long waits, because that takes as long as some requests.
// The first such interval counts as one without them, since there is nothing to compare with.
func (m *loadMeter) measure() load {
	runtimemetrics.Read(m.samples)
	now, used, waits := time.Now(), processorTime(), countOf(m.samples[0].Value.Float64Histogram(), longWait)
	l := load{length: now.Sub(m.at), used: used - m.used, waits: waits - m.waits, live: m.samples[1].Value.Uint64()}
	l.collecting = m.collecting(countOf(m.samples[2].Value.Float64Histogram(), 0), m.samples[3].Value.Uint64())
	m.at, m.used, m.waits = now, used, waits
	if l.waits < longWaits || m.cores > fewCores {
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

// collecting returns whether a collection was under way since the last call. There have been so many
// pauses for collections by now, and so many collections have ended. If collections are under way all
// the time, they are not seen.
func (m *loadMeter) collecting(pauses, ended uint64) bool {
	changed, others := pauses != m.pauses, int64(pauses)-2*int64(ended)
	m.pauses = pauses
	m.others[m.interval%len(m.others)] = others
	m.interval++
	return changed || others > slices.Min(m.others[:min(m.interval, len(m.others))])
}

// countOf returns how many durations of at least so much are in a histogram of seconds.
func countOf(h *runtimemetrics.Float64Histogram, least time.Duration) (n uint64) {
	for i, count := range h.Counts {
		if h.Buckets[i] >= least.Seconds() {
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
