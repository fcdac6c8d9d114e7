package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quorate/bench/measure"
	"quorate/bench/servers"
	"quorate/bench/solo"
)

const (
	collection = "/api/v1/namespaces/default/configmaps"
	// workers is the number of requests at a time, over all nodes.
	workers = 32
	// settleTime is how long the cluster is left alone after nodes have joined.
	settleTime = 3 * time.Second
	// restTime is how long the nodes are left alone to measure their processor time at rest.
	restTime   = 5 * time.Second
	sentMetric = `quorate_raftstore_peer_sent_bytes_total{peer=%q}`
)

// experiment is a cluster that gets more and more non-voters.
type experiment struct {
	*options
	q       *servers.Quorate
	leader  int
	clients []*solo.Client // one a node
	value   string
	written atomic.Int64
}

// measure prints the table of the costs with each number of non-voters.
func (o *options) measure(ctx context.Context, q *servers.Quorate, counts []int, out *os.File) (err error) {
	e := &experiment{options: o, q: q, value: strings.Repeat("x", o.size)}
	defer func() {
		for _, c := range e.clients {
			c.Close()
		}
	}()
	if e.leader, err = q.Leader(ctx); err != nil {
		return err
	}
	if err := e.dial(); err != nil {
		return err
	}
	if _, err := measure.Run(ctx, q.PIDs(), workers, o.objects, func(ctx context.Context, i int) (int, error) {
		return e.clients[e.leader].Do(ctx, http.MethodPost, collection, fmt.Sprintf(`{"metadata":{"name":"object-%d"},"data":{"value":%q}}`, i, e.value))
	}); err != nil {
		return err
	}
	t := measure.NewTable(fmt.Sprintf("%d voters with non-voters, %d bytes a write", voters, o.size), "go run ./bench/replicas -nonvoters "+o.nonvoters,
		"non-voters", "leader's time for a write, µs", "more for each non-voter, µs", "bytes to each non-voter", "bytes to each voter", "p99 of a write, ms",
		"writes/s, as fast as can be", "leader's time for one, µs", "all nodes' time for one, µs", "cached gets/s", "all nodes' time for one, µs",
		"all nodes at rest, % of a core")
	var first float64
	for _, count := range counts {
		if err := e.grow(ctx, count); err != nil {
			return err
		}
		if err := e.row(ctx, count, &first, t); err != nil {
			return fmt.Errorf("with %d non-voters: %w", count, err)
		}
	}
	return t.Print(out)
}

// dial makes clients of the nodes that have none.
func (e *experiment) dial() error {
	for node := len(e.clients); node < len(e.q.Endpoints); node++ {
		c, err := e.q.Client(node)
		if err != nil {
			return err
		}
		e.clients = append(e.clients, c)
	}
	return nil
}

// grow starts non-voters until there are so many.
func (e *experiment) grow(ctx context.Context, count int) error {
	for len(e.q.Processes) < voters+count {
		if err := e.q.JoinNonvoter(ctx); err != nil {
			return err
		}
	}
	if err := e.dial(); err != nil {
		return err
	}
	return measure.Sleep(ctx, settleTime)
}

// row measures with the present non-voters.
func (e *experiment) row(ctx context.Context, count int, first *float64, t *measure.Table) error {
	paced, sent, err := e.paced(ctx)
	if err != nil {
		return err
	}
	var each any = ""
	if count == 0 {
		*first = paced.CPU
	} else if *first > 0 {
		each = (paced.CPU - *first) / float64(count)
	}
	rest, err := measure.Share(ctx, e.q.PIDs(), restTime)
	if err != nil {
		return err
	}
	writes, err := e.fast(ctx, rest, func(ctx context.Context, _ int) (int, error) { return e.write(ctx) })
	if err != nil {
		return err
	}
	gets, err := e.fast(ctx, rest, func(ctx context.Context, i int) (int, error) {
		return e.clients[i%len(e.clients)].Do(ctx, http.MethodGet, fmt.Sprintf("%s/object-%d?resourceVersion=0", collection, i%e.objects), "")
	})
	if err != nil {
		return err
	}
	var nonvoters any = ""
	if count > 0 {
		nonvoters = sent.nonvoters / float64(count)
	}
	t.Add(count, paced.CPU, each, nonvoters, sent.voters/(voters-1), paced.P99, writes.Rate, writes.leader, writes.all, gets.Rate, gets.all, 100*rest)
	if now, err := e.q.Leader(ctx); err != nil || now != e.leader {
		return errors.Join(errors.New("another node leads now"), err)
	}
	return nil
}

// write replaces the value of one object, on the leader.
func (e *experiment) write(ctx context.Context) (int, error) {
	n := e.written.Add(1)
	return e.clients[e.leader].Do(ctx, http.MethodPatch, fmt.Sprintf("%s/object-%d", collection, n%int64(e.objects)),
		fmt.Sprintf(`{"data":{"number":"%d","value":%q}}`, n, e.value), "Content-Type", "application/merge-patch+json")
}

// bytesSent are the bytes that the leader has sent to others for one write.
type bytesSent struct{ voters, nonvoters float64 }

// paced writes at the fixed rate, one write after the other. CPU is that of the leader.
func (e *experiment) paced(ctx context.Context) (measure.Result, bytesSent, error) {
	before, err := e.sent(ctx)
	if err != nil {
		return measure.Result{}, before, err
	}
	interval := time.Second / time.Duration(e.rate)
	ops := int(e.phase / interval)
	r, err := measure.RunPaced(ctx, []int{e.q.PIDs()[e.leader]}, workers, ops, interval, func(ctx context.Context, _ int) (int, error) {
		return e.write(ctx)
	})
	if err != nil {
		return r, before, err
	}
	after, err := e.sent(ctx)
	n := float64(ops)
	return r, bytesSent{(after.voters - before.voters) / n, (after.nonvoters - before.nonvoters) / n}, err
}

// sent returns the bytes that the leader has sent.
func (e *experiment) sent(ctx context.Context) (total bytesSent, err error) {
	series, err := e.q.Series(ctx, e.leader)
	if err != nil {
		return total, err
	}
	for i, p := range e.q.Processes {
		bytes := series[fmt.Sprintf(sentMetric, p.Name)]
		switch {
		case i == e.leader:
		case i < voters:
			total.voters += bytes
		default:
			total.nonvoters += bytes
		}
	}
	return total, nil
}

// rates are the rate of operations, and their processor time in µs.
type rates struct {
	Rate        float64
	leader, all float64
}

// fast performs operations for the length of a phase, as fast as they can be. The processor time of
// all nodes is beyond the one that they use at rest, a part of a core.
func (e *experiment) fast(ctx context.Context, rest float64, do func(ctx context.Context, i int) (int, error)) (r rates, err error) {
	leader := []int{e.q.PIDs()[e.leader]}
	leaderBefore, err := measure.CPUTime(leader)
	if err != nil {
		return r, err
	}
	before, err := measure.CPUTime(e.q.PIDs())
	if err != nil {
		return r, err
	}
	done, took, err := e.repeat(ctx, do)
	if err != nil {
		return r, err
	}
	after, err := measure.CPUTime(e.q.PIDs())
	if err != nil {
		return r, err
	}
	leaderAfter, err := measure.CPUTime(leader)
	n := float64(done)
	r.Rate = n / took.Seconds()
	r.leader = float64((leaderAfter - leaderBefore).Microseconds()) / n
	r.all = 1e6 * ((after - before).Seconds() - rest*took.Seconds()) / n
	return r, err
}

// repeat performs operations for the length of a phase.
func (e *experiment) repeat(ctx context.Context, do func(ctx context.Context, i int) (int, error)) (done int64, took time.Duration, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, count atomic.Int64
	var all sync.WaitGroup
	begun := time.Now()
	for range workers {
		all.Go(func() {
			for ctx.Err() == nil && time.Since(begun) < e.phase {
				code, err := do(ctx, int(next.Add(1)))
				if err == nil && code/100 != 2 {
					err = fmt.Errorf("code %d", code)
				}
				if err != nil {
					cancel(err)
					return
				}
				count.Add(1)
			}
		})
	}
	all.Wait()
	return count.Load(), time.Since(begun), context.Cause(ctx)
}
