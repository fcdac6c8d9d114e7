package logsink

import "time"

// run delivers batches, oldest first, until the queue is closed and empty.
func (q *Queue) run() {
	defer close(q.done)
	var reported time.Time
	for {
		b, open := q.take()
		if b != nil {
			q.deliver(b)
		}
		wait := q.report(&reported, !open && b == nil)
		if b == nil {
			if !open {
				return
			}
			q.sleep(wait)
		}
	}
}

// take removes the oldest batch that is due; nil if there is none yet. Open is false once the queue
// is closed.
func (q *Queue) take() (b *batch, open bool) {
	q.linger()
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.batches) == 0 {
		return nil, !q.closed
	}
	b = q.batches[0]
	q.batches[0] = nil
	q.batches = q.batches[1:]
	if len(q.batches) == 0 {
		q.batches = nil
	}
	return b, !q.closed
}

// linger waits for further lines while there is one batch that is not full.
func (q *Queue) linger() {
	if q.cfg.Linger == 0 {
		return
	}
	limit := time.NewTimer(q.cfg.Linger)
	defer limit.Stop()
	for q.filling() {
		select {
		case <-q.wake:
		case <-limit.C:
			return
		}
	}
}

// filling reports whether the only batch has room for further lines.
func (q *Queue) filling() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.closed && len(q.batches) == 1 &&
		len(q.batches[0].text) < q.cfg.BatchBytes && q.batches[0].lines < q.cfg.BatchLines
}

func (q *Queue) deliver(b *batch) {
	err := q.ctx.Err()
	if err == nil {
		err = q.cfg.Deliver(q.ctx, b.text)
	}
	q.mu.Lock()
	q.bytes -= len(b.text)
	q.lines -= b.lines
	if cap(b.text) <= maxKeptBytes {
		q.spare = b.text[:0]
	}
	if err != nil {
		q.dropped.Lines += uint64(b.lines)
		q.dropped.Cause = err
	}
	q.mu.Unlock()
	if err != nil {
		q.metrics.failed.Add(float64(b.lines))
	}
}

// report reports dropped lines, unless it has just done so. It returns how long to wait for the
// next report; 0 if there is nothing to report.
func (q *Queue) report(last *time.Time, final bool) time.Duration {
	q.mu.Lock()
	dropped := q.dropped
	wait := q.cfg.ReportInterval - time.Since(*last)
	due := dropped.Lines > 0 && (final || wait <= 0)
	if due {
		q.dropped = Dropped{}
	}
	q.mu.Unlock()
	if dropped.Lines == 0 {
		return 0
	}
	if !due {
		return wait
	}
	*last = time.Now()
	if q.cfg.Report != nil {
		q.cfg.Report(dropped)
	}
	return 0
}

// sleep waits for a change, or for so long if wait is not 0.
func (q *Queue) sleep(wait time.Duration) {
	if wait == 0 {
		<-q.wake
		return
	}
	limit := time.NewTimer(wait)
	defer limit.Stop()
	select {
	case <-q.wake:
	case <-limit.C:
	}
}
