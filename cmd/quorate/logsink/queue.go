package logsink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// defaultBatchBytes is how much is delivered at a time.
	defaultBatchBytes = 64 << 10
	// defaultReportInterval is the least time between two reports of dropped lines.
	defaultReportInterval = 10 * time.Second
	// defaultDrainTimeout is how long Close waits for the destination to take the remaining lines.
	defaultDrainTimeout = 2 * time.Second
	// maxKeptBytes is the size of the largest buffer that is used again.
	maxKeptBytes = 256 << 10
)

// ErrBlocked reports that a destination took no lines for so long that the rest was given up.
var ErrBlocked = errors.New("the destination takes no lines")

// Deliver delivers a batch: whole lines, each with its newline. It must not retain batch. An error
// means that none of the lines arrived. It returns early when ctx ends, if it can.
type Deliver func(ctx context.Context, batch []byte) error

// Writer returns a Deliver that writes each batch to w. It cannot return early.
func Writer(w io.Writer) Deliver {
	return func(_ context.Context, batch []byte) error {
		_, err := w.Write(batch)
		return err
	}
}

// Dropped describes lines that were not delivered.
type Dropped struct {
	Lines uint64
	// Cause is the last error of the destination; nil if the queue was full.
	Cause error
}

// Reason returns the reason why the lines were dropped.
func (d Dropped) Reason() string {
	if d.Cause == nil {
		return "the destination was too slow"
	}
	return d.Cause.Error()
}

// Config holds the settings of a queue. Name, MaxBytes, MaxLines, Deliver and Metrics are required.
type Config struct {
	// Name is the queue's label in the metrics.
	Name string
	// MaxBytes and MaxLines bound the lines that are queued or being delivered.
	MaxBytes, MaxLines int
	// BatchBytes and BatchLines bound one delivery; 64 KiB, and any number of lines. A longer line
	// is a batch of its own.
	BatchBytes, BatchLines int
	// Linger is how long the first line of a batch waits for others.
	Linger  time.Duration
	Deliver Deliver
	// Report, if not nil, is called by the queue's goroutine with the lines dropped since the last
	// call: between two deliveries, at most every ReportInterval (10 s by default), and before
	// Close returns nil.
	Report         func(Dropped)
	ReportInterval time.Duration
	// DrainTimeout is how long Close waits for the remaining lines; 2 s.
	DrainTimeout time.Duration
	Metrics      *Metrics
}

// Queue is an io.Writer that never blocks. Each call of Write takes one line, or several whole
// ones, with their newlines.
type Queue struct {
	cfg     Config
	metrics queueMetrics
	wake    chan struct{} // holds one value after a change that the goroutine has not seen
	done    chan struct{} // closed when the goroutine has ended
	ctx     context.Context
	cancel  context.CancelFunc

	mu      sync.Mutex
	batches []*batch // guarded by mu; lines are appended to the last one
	spare   []byte   // guarded by mu; empty
	bytes   int      // guarded by mu; those being delivered included
	lines   int      // guarded by mu; likewise
	dropped Dropped  // guarded by mu; not reported yet
	closed  bool     // guarded by mu
}

type batch struct {
	text  []byte
	lines int
}

// Open returns a running queue. Its owner calls Close.
func Open(cfg Config) *Queue {
	if cfg.BatchBytes == 0 {
		cfg.BatchBytes = defaultBatchBytes
	}
	if cfg.BatchLines == 0 {
		cfg.BatchLines = cfg.MaxLines
	}
	if cfg.ReportInterval == 0 {
		cfg.ReportInterval = defaultReportInterval
	}
	if cfg.DrainTimeout == 0 {
		cfg.DrainTimeout = defaultDrainTimeout
	}
	q := &Queue{cfg: cfg, metrics: cfg.Metrics.of(cfg.Name), wake: make(chan struct{}, 1), done: make(chan struct{})}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	cfg.Metrics.watch(q)
	go q.run()
	return q
}

// Write queues a copy of the lines, or drops them if they exceed the bounds or the queue is closed.
// It never blocks and returns no error.
func (q *Queue) Write(lines []byte) (int, error) {
	count := 1
	if first := bytes.IndexByte(lines, '\n'); first >= 0 && first < len(lines)-1 {
		count = bytes.Count(lines, []byte{'\n'})
	}
	q.mu.Lock()
	fits := !q.closed && q.bytes+len(lines) <= q.cfg.MaxBytes && q.lines+count <= q.cfg.MaxLines
	if fits {
		q.append(lines, count)
	} else {
		q.dropped.Lines += uint64(count)
	}
	q.mu.Unlock()
	if !fits {
		q.metrics.full.Add(float64(count))
		return len(lines), nil
	}
	q.signal()
	return len(lines), nil
}

// append adds lines to the last batch, or to a new one. The caller holds mu.
func (q *Queue) append(lines []byte, count int) {
	q.bytes += len(lines)
	q.lines += count
	var last *batch
	if n := len(q.batches); n > 0 {
		last = q.batches[n-1]
	}
	if last == nil || len(last.text)+len(lines) > q.cfg.BatchBytes || last.lines+count > q.cfg.BatchLines {
		last = &batch{text: q.spare}
		q.spare = nil
		q.batches = append(q.batches, last)
	}
	last.text = append(last.text, lines...)
	last.lines += count
}

func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Queued returns the bytes of lines that are queued or being delivered.
func (q *Queue) Queued() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

// Close delivers the queued lines and ends the queue's goroutine. If the destination does not take
// the lines within DrainTimeout, Close cancels the context of the delivery, and the remaining lines
// are dropped. If the delivery does not return within another quarter of DrainTimeout, Close
// returns ErrBlocked and the goroutine continues: a write to a pipe that nobody reads ends only
// with the process.
func (q *Queue) Close() error {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
	defer q.cancel()
	limit := time.NewTimer(q.cfg.DrainTimeout)
	defer limit.Stop()
	select {
	case <-q.done:
		return nil
	case <-limit.C:
	}
	q.cancel()
	limit.Reset(q.cfg.DrainTimeout / 4)
	select {
	case <-q.done:
		return nil
	case <-limit.C:
	}
	return fmt.Errorf("close the log %q: %w", q.cfg.Name, ErrBlocked)
}
