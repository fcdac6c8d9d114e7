package command

import (
	"fmt"
	"io"
	"time"
)

const (
	// progressInterval is the pause between two lines about a transfer on a terminal.
	progressInterval = 200 * time.Millisecond
	// progressPlainInterval is that pause elsewhere, such as in a log.
	progressPlainInterval = 10 * time.Second
)

// progress reports on standard error how far a transfer is: on a terminal in one line that it
// overwrites, elsewhere in a plain line from time to time, so that short transfers have none.
type progress struct {
	to       io.Writer
	terminal bool
	what     string
	total    int64 // bytes; 0 if unknown
	done     int64
	begun    time.Time
	shown    time.Time
}

func newProgress(p *Process, what string, total int64) *progress {
	now := time.Now()
	return &progress{to: p.Stderr, terminal: isTerminal(p.Stderr), what: what, total: total, begun: now, shown: now}
}

// reader returns r, whose bytes count as done when they are read.
func (p *progress) reader(r io.Reader) io.Reader {
	return readerFunc(func(b []byte) (int, error) {
		n, err := r.Read(b)
		p.add(n)
		return n, err
	})
}

// readerFunc is a function that implements io.Reader.
type readerFunc func(b []byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func (p *progress) add(n int) {
	p.done += int64(n)
	interval := progressPlainInterval
	if p.terminal {
		interval = progressInterval
	}
	now := time.Now()
	if now.Sub(p.shown) < interval {
		return
	}
	p.shown = now
	if p.terminal {
		fmt.Fprintf(p.to, "\r%s%s", p.line(now), clearLine)
	} else {
		fmt.Fprintln(p.to, p.line(now))
	}
}

// end removes the line from a terminal, so that the next message takes its place.
func (p *progress) end() {
	if p.terminal {
		fmt.Fprintf(p.to, "\r%s", clearLine)
	}
}

// line returns what is done, the mean rate, and how much time remains if the total is known.
func (p *progress) line(now time.Time) string {
	took := now.Sub(p.begun)
	rate := float64(p.done) / took.Seconds()
	text := p.what + ": " + mebibytes(p.done)
	if p.total > 0 {
		text += fmt.Sprintf(" of %s (%d %%)", mebibytes(p.total), p.done*100/p.total)
	}
	text += ", " + mebibytes(int64(rate)) + "/s"
	if p.total > 0 && rate > 0 {
		left := time.Duration(float64(p.total-p.done) / rate * float64(time.Second))
		text += fmt.Sprintf(", %s left", max(left, 0).Round(time.Second))
	}
	return text
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
