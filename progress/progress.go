// Package progress shows how far a long operation is, at which rate, and how much time remains: on a
// terminal in one line that is overwritten, elsewhere in a plain line from time to time, so that short
// operations have none. Lines have no colours, so NO_COLOR makes no difference.
//
// The commands of the operator, quorate-chaos and the benchmark use it. A Progress has a goroutine
// only between Tick and End; its methods are safe for concurrent use.
package progress

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// interval is the shortest pause between two lines on a terminal.
	interval = 200 * time.Millisecond
	// plainInterval is that pause elsewhere, such as in a log.
	plainInterval = 10 * time.Second
	// tickInterval is the pause between two lines of Tick.
	tickInterval = time.Second
)

// clearLine is the control sequence of ECMA-48 that clears the line from the cursor on.
const clearLine = "\x1b[K"

// Progress is the progress of one operation.
type Progress struct {
	to       io.Writer
	terminal bool

	mu    sync.Mutex
	what  string // guarded by mu, as the rest
	unit  Unit
	total int64     // 0 if unknown
	until time.Time // when the operation ends; zero if unknown
	done  int64
	begun time.Time
	added time.Time // when done was increased
	shown time.Time
	drawn bool // the terminal shows a line

	stop chan struct{} // nil without Tick
	wait sync.WaitGroup
}

// New returns the progress of an operation, which begins now. total is 0 if it is unknown.
func New(to io.Writer, what string, total int64, unit Unit) *Progress {
	p := &Progress{to: to, terminal: IsTerminal(to)}
	p.Begin(what, total, unit)
	return p
}

// Begin begins anew, with another operation.
func (p *Progress) Begin(what string, total int64, unit Unit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.what, p.total, p.unit, p.done, p.begun, p.added = what, total, unit, 0, now, now
	if p.shown.IsZero() {
		p.shown = now
	}
}

// Until sets when the operation ends, for one that does so by the clock.
func (p *Progress) Until(end time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = end
}

// Tick shows the progress each second on a terminal, also while nothing is added, until End.
func (p *Progress) Tick() {
	if !p.terminal {
		return
	}
	p.stop = make(chan struct{})
	p.wait.Go(func() {
		again := time.NewTicker(tickInterval)
		defer again.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-again.C:
				p.Add(0)
			}
		}
	})
}

// Add counts n as done.
func (p *Progress) Add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if n > 0 {
		p.done, p.added = p.done+n, now
	}
	pause := plainInterval
	if p.terminal {
		pause = interval
	}
	if now.Sub(p.shown) >= pause {
		p.show(now)
	}
}

func (p *Progress) show(now time.Time) {
	p.shown = now
	if p.terminal {
		fmt.Fprintf(p.to, "\r%s%s", p.line(now), clearLine)
		p.drawn = true
	} else {
		fmt.Fprintln(p.to, p.line(now))
	}
}

// End removes the line from a terminal, so that the next message takes its place, and ends Tick.
func (p *Progress) End() {
	if p.stop != nil {
		close(p.stop)
		p.wait.Wait()
		p.stop = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *Progress) clear() {
	if p.drawn {
		fmt.Fprintf(p.to, "\r%s", clearLine)
		p.drawn = false
	}
}

// Reader returns r, whose bytes count as done when they are read.
func (p *Progress) Reader(r io.Reader) io.Reader {
	return readerFunc(func(b []byte) (int, error) {
		n, err := r.Read(b)
		p.Add(int64(n))
		return n, err
	})
}

// readerFunc is a function that implements io.Reader.
type readerFunc func(b []byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// Beside returns a writer to w, which may be the same terminal: what is written takes the place of the
// line, which is shown again below it.
func (p *Progress) Beside(w io.Writer) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		again := p.drawn && bytes.HasSuffix(b, []byte("\n"))
		p.clear()
		n, err := w.Write(b)
		if again {
			p.show(time.Now())
		}
		return n, err
	})
}

// writerFunc is a function that implements io.Writer.
type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// line returns what is done, the mean rate, and how much time remains if that is known.
func (p *Progress) line(now time.Time) string {
	text := p.what + ": " + p.unit.amount(p.done)
	if p.total > 0 {
		text += fmt.Sprintf(" of %s", p.unit.amount(p.total))
	}
	text += p.unit.name
	if p.total > 0 {
		text += fmt.Sprintf(" (%d %%)", p.done*100/p.total)
	}
	took := p.added.Sub(p.begun).Seconds()
	if p.done > 0 && took > 0 {
		text += ", " + p.unit.rate(float64(p.done)/took)
	}
	left := p.until.Sub(now)
	if p.until.IsZero() {
		if p.total == 0 || p.done == 0 {
			return text
		}
		left = time.Duration(float64(p.total-p.done)/float64(p.done)*took*float64(time.Second)) - now.Sub(p.added)
	}
	return text + fmt.Sprintf(", %s left", max(left, 0).Round(time.Second))
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
