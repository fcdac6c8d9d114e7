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

// Options configure a run.
type Options struct {
	Seed uint64
	// Mutation is the rule that the run breaks; None breaks none.
	Mutation Mutation
	// Trace receives a line for each step of the run; nil for no trace.
	Trace io.Writer
}

// Result is the result of a run.
type Result struct {
	Err       error  // the first violation, nil if there was none
	Hash      uint64 // FNV-1a of the trace, also without Options.Trace
	Simulated time.Duration
	Counts    Counts
}

// Counts contains the number of events of each type in one or several runs, so that a test can
// check that they happened at all.
type Counts struct {
	Events, Elections, Entries, Acknowledged, Refused, Batches, Checksums, Crashes, Lost, Snapshots, Installed, Restarted, Stuck,
	Delivered, FromLog, Resumed, Expired, Pins, Added, Promoted, Moved, Removed int
}

// Add adds the counts of other runs to c.
func (c *Counts) Add(other Counts) {
	sum, more := reflect.ValueOf(c).Elem(), reflect.ValueOf(other)
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
}

// Missing returns the names of the counts that are 0, except those of rare events.
func (c Counts) Missing() (names []string) {
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "Restarted" && name != "Stuck" {
			names = append(names, name)
		}
	}
	return names
}

// World is one simulated cluster with its clients, watchers and faults.
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
	done   bool // the cluster has come to rest, or is stuck

	nodes    []*node // nodes are never removed
	net      network
	truth    truth
	watchers []*watcher
	lost     int  // voters that are lost for good
	calm     bool // faults are over
}

// Run simulates a cluster with faults until the faults are over and the cluster has come to rest,
// or until a rule is violated. It must be called in a bubble of testing/synctest.
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

// guard turns a panic into a violation: the product panics rather than continue with a state that
// may be wrong.
func (w *World) guard(do func()) {
	defer func() {
		if r := recover(); r != nil {
			w.violate("panic: %v", r)
			w.err = fmt.Errorf("%w\n%s", w.err, debug.Stack())
		}
	}()
	do()
}

// run executes the events in order.
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

// pass lets simulated time pass until the next event is due or a goroutine calls.
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

// at schedules do.
func (w *World) at(d time.Duration, do func()) {
	w.events.add(event{at: w.now().Add(d), tie: w.rng.Uint64(), do: do})
}

// after schedules do for the process. It is skipped if the process has ended by then, and delayed
// while the process is paused.
func (p *process) after(d time.Duration, do func()) {
	p.w.events.add(event{at: p.w.now().Add(d), tie: p.w.rng.Uint64(), to: p, do: do})
}

// receive calls do now, or when the pause of the process ends.
func (p *process) receive(do func()) {
	if pause := time.Until(p.pausedUntil); pause > 0 {
		p.after(pause, do)
		return
	}
	do()
}

// violate records a violation, which ends the run. Later violations are ignored.
func (w *World) violate(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("seed %d after %s: "+format, append([]any{w.opts.Seed, time.Since(w.start)}, args...)...)
		w.trace("violation: %v", w.err)
	}
}

// trace adds a line to the trace.
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
