package measure

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"quorate/bench/solo"
)

// Result is what operations cost.
type Result struct {
	Ops      int
	Rate     float64 // operations in a second
	CPU      float64 // processor time of the servers for one operation, in µs
	P50, P99 time.Duration
}

// Run performs operations 0 to ops-1 with so many workers, and measures them and the processor time
// of the processes. An operation that fails, or whose code is none of 2xx, ends the run with an
// error.
func Run(ctx context.Context, pids []int, workers, ops int, do func(ctx context.Context, i int) (code int, err error)) (Result, error) {
	return RunPaced(ctx, pids, workers, ops, 0, do)
}

// RunPaced is Run with an interval between the beginnings of operations, as far as workers are
// free.
func RunPaced(ctx context.Context, pids []int, workers, ops int, interval time.Duration, do func(ctx context.Context, i int) (code int, err error)) (Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	before, err := CPUTime(pids)
	if err != nil {
		return Result{}, err
	}
	var next atomic.Int64
	var all sync.WaitGroup
	took := make([]time.Duration, ops)
	begun := time.Now()
	for range workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < ops && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if Sleep(ctx, time.Until(begun.Add(time.Duration(i)*interval))) != nil {
					return // another operation has failed
				}
				start := time.Now()
				code, err := do(ctx, i)
				if err == nil && code/100 != 2 {
					err = fmt.Errorf("code %d", code)
				}
				if err != nil {
					cancel(fmt.Errorf("operation %d: %w", i, err))
					return
				}
				took[i] = time.Since(start)
			}
		})
	}
	all.Wait()
	length := time.Since(begun)
	if err := context.Cause(ctx); err != nil {
		return Result{}, err
	}
	after, err := CPUTime(pids)
	return Result{
		Ops: ops, Rate: float64(ops) / length.Seconds(), CPU: float64((after - before).Microseconds()) / float64(ops),
		P50: Percentile(took, 50), P99: Percentile(took, 99),
	}, err
}

// Mean returns the result of several runs of the same operation: means, and the medians of the
// percentiles.
func Mean(runs []Result) (m Result) {
	var p50, p99 []time.Duration
	for _, r := range runs {
		m.Ops += r.Ops
		m.Rate += r.Rate / float64(len(runs))
		m.CPU += r.CPU / float64(len(runs))
		p50, p99 = append(p50, r.P50), append(p99, r.P99)
	}
	m.P50, m.P99 = Percentile(p50, 50), Percentile(p99, 50)
	return m
}

// CPUTime returns the processor time that processes have used together.
func CPUTime(pids []int) (total time.Duration, err error) {
	for _, pid := range pids {
		used, err := solo.ProcessorTime(pid)
		if err != nil {
			return 0, err
		}
		total += used
	}
	return total, nil
}

// Share returns the part of one core that processes use during a time.
func Share(ctx context.Context, pids []int, length time.Duration) (float64, error) {
	before, err := CPUTime(pids)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := Sleep(ctx, length); err != nil {
		return 0, err
	}
	after, err := CPUTime(pids)
	return (after - before).Seconds() / time.Since(begun).Seconds(), err
}

// Sleep waits, unless ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
