package node

import (
	"fmt"
	"runtime"
	"strings"
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
	)
	loads := [...]load{
		idle:   {used: 0},
		middle: {used: 400 * time.Millisecond},
		busy:   {used: 450 * time.Millisecond},
		waits:  {used: 100 * time.Millisecond, waits: longWaits},
		scarce: {used: 100 * time.Millisecond, waits: 100 * longWaits, scarce: scarceShare},
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
}

// A process has one thread when it is quiet, all when it is busy, and all when the tuner ends.
func TestThreadTuner(t *testing.T) {
	all := runtime.GOMAXPROCS(0)
	if all == 1 {
		t.Skip("there is one core")
	}
	unset := func(string) (string, bool) { return "", false }
	stop := tuneThreads(unset)
	eventually := func(what string, want int) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); runtime.GOMAXPROCS(0) != want; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %d threads after a minute, want %d", what, runtime.GOMAXPROCS(0), want)
			}
		}
	}
	eventually("quiet", 1)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				_ = fmt.Sprint(i)
			}
		}
	}()
	eventually("busy", all)
	close(done)
	<-ended
	eventually("quiet again", 1)
	stop()
	if got := runtime.GOMAXPROCS(0); got != all {
		t.Errorf("%d threads after the end, want %d", got, all)
	}

	tuneThreads(func(name string) (string, bool) { return "2", name == "GOMAXPROCS" })()
}

// Waits of goroutines are seen, but only from one interval with some to the next.
func TestLoadMeter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	m := newLoadMeter()
	queue := func() {
		ends := make(chan struct{})
		for range 8 {
			go func() {
				for begun := time.Now(); time.Since(begun) < 4*longWait; {
				}
				ends <- struct{}{}
			}()
		}
		for range 8 {
			<-ends
		}
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !holds(); {
			if time.Now().After(deadline) {
				t.Fatalf("%s after a minute", what)
			}
		}
	}
	m.delaysAt = time.Time{}
	until("no waits", func() bool {
		queue()
		if l := m.measure(); l.waits >= longWaits {
			t.Fatalf("waits without a measurement before: %+v", l)
		}
		return !m.delaysAt.IsZero()
	})
	until("no waits in a second interval", func() bool {
		queue()
		l := m.measure()
		return l.waits >= longWaits && l.used > 0 && l.length > 0
	})
}
