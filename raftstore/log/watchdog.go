package log

import (
	"slices"
	"sync"
	"time"
)

// watchdog reports writes that take too long while they are still running. It uses one timer for
// all writes.
type watchdog struct {
	limit   time.Duration
	stalled func(op string, took time.Duration)
	calls   sync.WaitGroup

	mu      sync.Mutex
	writes  []*write // running, oldest first
	timer   *time.Timer
	armed   bool // the timer runs
	stopped bool
}

type write struct {
	watchdog *watchdog
	op       string
	start    time.Time
	reported bool
}

func newWatchdog(limit time.Duration, stalled func(string, time.Duration)) *watchdog {
	d := &watchdog{limit: limit, stalled: stalled}
	d.timer = time.AfterFunc(limit, d.check)
	d.timer.Stop()
	return d
}

// begin records the start of a write. The caller calls end on the result.
func (d *watchdog) begin(op string) *write {
	w := &write{watchdog: d, op: op, start: time.Now()}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes = append(d.writes, w)
	if !d.armed && !d.stopped {
		d.arm(d.limit)
	}
	return w
}

func (d *watchdog) arm(after time.Duration) {
	d.armed = true
	d.timer.Reset(after)
}

func (w *write) end() {
	d := w.watchdog
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, other := range d.writes {
		if other == w {
			d.writes = append(d.writes[:i], d.writes[i+1:]...)
			break
		}
	}
	if len(d.writes) == 0 {
		d.armed = false
		d.timer.Stop()
	}
}

// check reports each write beyond the limit once, and sets the timer for the next one.
func (d *watchdog) check() {
	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		return
	}
	d.calls.Add(1)
	defer d.calls.Done()
	d.armed = false
	now := time.Now()
	var late []*write
	for _, w := range d.writes {
		if w.reported {
			continue
		}
		if left := d.limit - now.Sub(w.start); left > 0 {
			d.arm(left)
			break
		}
		w.reported = true
		late = append(late, w)
	}
	d.mu.Unlock()
	for _, w := range late {
		d.stalled(w.op, now.Sub(w.start))
	}
}

// hasStalled reports whether a reported write is still running.
func (d *watchdog) hasStalled() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.writes, func(w *write) bool { return w.reported })
}

// inFlight returns the number of running writes.
func (d *watchdog) inFlight() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.writes)
}

// stop stops the timer and waits for running calls of stalled.
func (d *watchdog) stop() {
	d.mu.Lock()
	d.stopped = true
	d.timer.Stop()
	d.mu.Unlock()
	d.calls.Wait()
}
