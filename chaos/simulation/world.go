package simulation

import (
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"testing/synctest"
	"time"
)

// Options of a run.
type Options struct {
	Seed uint64
	// Mutation breaks a rule, to see that it is found out.
	Mutation Mutation
	// Trace gets a line for each thing that happens; nil for none.
	Trace io.Writer
}

// Result of a run.
type Result struct {
	Err       error  // the first rule that did not hold
	Hash      uint64 // of the trace
	Simulated time.Duration
	Counts    Counts
}

// Counts say how much a run went through, so that a test can tell that it saw enough.
type Counts struct {
	Events, Elections, Entries, Acknowledged, Refused, Batches, Checksums, Crashes, Lost, Snapshots, Installed, Restarted, Stuck,
	Delivered, FromLog, Resumed, Expired, Pins, Added, Promoted, Moved, Removed int
}

// Add adds the counts of another run.
func (c *Counts) Add(other Counts) {
	sum, more := reflect.ValueOf(c).Elem(), reflect.ValueOf(other)
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
}

// Missing returns the names of what never happened, but for what is rare.
func (c Counts) Missing() (names []string) {
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "Restarted" && name != "Stuck" {
			names = append(names, name)
		}
	}
	return names
}

// World is one simulated cluster.
type World struct {
	opts   Options
	set    settings
	rng    *rand.Rand
	start  time.Time
	events queue
	timer  *time.Timer
	calls  calls
	hash   hash.Hash64
	counts Counts
	err    error
	done   bool // the cluster has come to rest, as it should

	nodes    []*node // never fewer
	net      network
	truth    truth
	watchers []*watcher
	lost     int  // voters that are gone for good
	calm     bool // faults are over
}

// Run simulates a cluster until it has come to rest after its faults, or a rule does not hold. It
// must be called in a bubble of testing/synctest.
func Run(o Options) Result {
	w := &World{
		opts: o, rng: rand.New(rand.NewPCG(o.Seed, o.Seed^0x9e3779b97f4a7c15)), start: time.Now(), hash: fnv.New64a(),
		timer: time.NewTimer(time.Hour),
	}
	w.calls.woken = make(chan struct{}, 1)
	w.truth = newTruth(w)
	w.net.heal()
	w.guard(func() {
		w.begin()
		w.run()
	})
	w.guard(w.end)
	w.timer.Stop()
	return Result{Err: w.err, Hash: w.hash.Sum64(), Simulated: time.Since(w.start), Counts: w.counts}
}

// guard makes a violation of a panic: the product panics rather than go on with a state that may be
// wrong.
func (w *World) guard(do func()) {
	defer func() {
		if r := recover(); r != nil {
			w.violate("panic: %v", r)
			w.err = fmt.Errorf("%w\n%s", w.err, debug.Stack())
		}
	}()
	do()
}

// run has one event happen after another.
func (w *World) run() {
	for !w.events.empty() && w.err == nil && !w.done {
		w.serveCalls()
		if wait := time.Until(w.events.first().at); wait > 0 {
			w.pass(wait)
			continue
		}
		e := w.events.next()
		switch {
		case e.to == nil:
			e.do()
		case e.to.ended:
			continue
		default:
			e.to.receive(e.do)
		}
		w.counts.Events++
	}
}

// pass lets time pass until the next event, or until a goroutine calls.
func (w *World) pass(wait time.Duration) {
	w.timer.Reset(wait)
	select {
	case <-w.timer.C:
	case <-w.calls.woken:
	}
}

// end ends all processes, and waits for their goroutines.
func (w *World) end() {
	for _, n := range w.nodes {
		if n.process != nil {
			n.process.end()
		}
	}
	for {
		w.serveCalls()
		idle := true
		for _, n := range w.nodes {
			idle = idle && n.goroutines.Load() == 0
		}
		if idle {
			synctest.Wait()
			return
		}
		w.pass(time.Second)
	}
}

func (w *World) now() time.Time { return time.Now() }

// at has something happen after a while.
func (w *World) at(d time.Duration, do func()) {
	w.events.add(event{at: w.now().Add(d), tie: w.rng.Uint64(), do: do})
}

// after has something happen to the process after a while, if it still runs then.
func (p *process) after(d time.Duration, do func()) {
	p.w.events.add(event{at: p.w.now().Add(d), tie: p.w.rng.Uint64(), to: p, do: do})
}

// receive has something happen to the process now, or when it goes on after a pause.
func (p *process) receive(do func()) {
	if pause := time.Until(p.pausedUntil); pause > 0 {
		p.after(pause, do)
		return
	}
	do()
}

// violate ends the run: a rule does not hold.
func (w *World) violate(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("seed %d after %s: "+format, append([]any{w.opts.Seed, time.Since(w.start)}, args...)...)
		w.trace("violation: %v", w.err)
	}
}

// trace notes what happens.
func (w *World) trace(format string, args ...any) {
	line := fmt.Appendf(nil, "%12s ", time.Since(w.start))
	line = append(fmt.Appendf(line, format, args...), '\n')
	w.hash.Write(line)
	if w.opts.Trace != nil {
		w.opts.Trace.Write(line)
	}
}

func (p *process) trace(format string, args ...any) {
	p.w.trace("%s: "+format, append([]any{p.node.name}, args...)...)
}

// between returns a random duration, at least low and less than high.
func (w *World) between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(w.rng.Int64N(int64(high-low)))
}

func (w *World) chance(p float64) bool { return p > 0 && w.rng.Float64() < p }

// pick returns one of the values, which must not be empty.
func pick[T any](w *World, values []T) T { return values[w.rng.IntN(len(values))] }
