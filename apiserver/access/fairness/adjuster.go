package fairness

import (
	"hash/maphash"
	"math"
	"runtime"
	rtmetrics "runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// maxRunnable is the number of runnable goroutines for each processor above which flows may use
	// fewer seats.
	maxRunnable = 4
	// minUsable is the number of seats for each processor that the flows of a level may use in any
	// case: enough to keep a processor busy.
	minUsable = 8
	// sampleInterval is the shortest time between two samples, which take 64 ns each.
	sampleInterval = time.Millisecond
	// The least of the samples of a window decides, so that a window must be long enough for a burst
	// to end: the requests of one commit become runnable together.
	windowTime    = 10 * time.Millisecond
	windowSamples = 4
	// whole is the part of the seats that flows may use without load.
	whole = 1024
	// After a window, the part becomes decrease of it, or grows by increase: within a second from
	// the least to the whole.
	decreaseNumerator, decreaseDenominator = 3, 4
	increase                               = whole / 64
	// aloneAfter is how long after a request of another flow a flow counts as alone.
	aloneAfter = 10 * time.Second
)

// Adjuster bounds the seats that flows use by the number of goroutines that wait for a processor.
// Its dispatchers ask it before they grant a seat to a queue that has some.
//
// Requests take samples; it has no goroutine and no timer. A nil Adjuster bounds nothing.
type Adjuster struct {
	seed       maphash.Seed // of the flows, so that they are the same in all dispatchers
	runnable   func() int
	processors int
	started    time.Time
	reductions prometheus.Counter

	part        atomic.Int64  // of whole
	flow        atomic.Uint64 // of the last request
	sharedUntil atomic.Int64  // time since started until which flows count as several
	nextSample  atomic.Int64  // time since started

	mu     sync.Mutex // guards window
	window window
}

// window is a number of consecutive samples.
type window struct {
	begun   time.Duration // since Adjuster.started
	samples int
	least   int
}

// NewAdjuster returns an adjuster for the dispatchers of a process.
func NewAdjuster(reg prometheus.Registerer) *Adjuster {
	sample := []rtmetrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}
	return newAdjuster(reg, runtime.GOMAXPROCS(0), func() int {
		rtmetrics.Read(sample)
		return int(min(sample[0].Value.Uint64(), math.MaxInt32))
	})
}

// newAdjuster is NewAdjuster with a function that returns the number of runnable goroutines, one
// call at a time.
func newAdjuster(reg prometheus.Registerer, processors int, runnable func() int) *Adjuster {
	a := &Adjuster{seed: maphash.MakeSeed(), runnable: runnable, processors: processors, started: time.Now()}
	a.part.Store(whole)
	a.reductions = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "quorate_apiserver_fairness_reductions_total",
		Help: "Times that flows were allowed fewer seats because goroutines waited for processors.",
	})
	reg.MustRegister(a.reductions, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_fairness_usable_ratio",
		Help: "Part of the seats of a level that flows may use, beside a number for each processor.",
	}, func() float64 { return float64(a.part.Load()) / whole }))
	return a
}

// usable returns how many of the seats of a level flows may use. A queue without seats may use all.
func (a *Adjuster) usable(seats int) int {
	if a == nil {
		return seats
	}
	part := int(int64(seats) * a.part.Load() / whole)
	return min(seats, max(part, minUsable*a.processors))
}

// observe records a request of a flow, and takes a sample if one is due.
func (a *Adjuster) observe(flow uint64) {
	if a == nil {
		return
	}
	now := time.Since(a.started)
	if a.alone(flow, now) {
		if a.part.Load() != whole {
			a.part.Store(whole)
		}
		return
	}
	next := a.nextSample.Load()
	if int64(now) < next || !a.nextSample.CompareAndSwap(next, int64(now+sampleInterval)) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sample(now)
}

// alone reports whether no other flow has sent a request lately.
func (a *Adjuster) alone(flow uint64, now time.Duration) bool {
	if last := a.flow.Load(); last != flow {
		a.flow.Store(flow)
		if last != 0 {
			a.sharedUntil.Store(int64(now + aloneAfter))
		}
	}
	return int64(now) >= a.sharedUntil.Load()
}

// sample adds a sample to the window, and adjusts the part if the window is complete. mu is held.
func (a *Adjuster) sample(now time.Duration) {
	w, n := &a.window, a.runnable()
	if w.samples == 0 {
		w.begun, w.least = now, n
	}
	w.samples++
	w.least = min(w.least, n)
	if w.samples < windowSamples || now-w.begun < windowTime {
		return
	}
	w.samples = 0
	part := a.part.Load()
	if w.least <= maxRunnable*a.processors {
		a.part.Store(min(whole, part+increase))
		return
	}
	a.part.Store(max(1, part*decreaseNumerator/decreaseDenominator))
	a.reductions.Inc()
}
