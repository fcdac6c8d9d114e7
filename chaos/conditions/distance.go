package main

import (
	"context"
	"fmt"
	"time"

	"quorate/chaos/nodes"
)

// largest is the largest round trip that is measured.
const largest = 80 * time.Millisecond

// route is the way between two nodes.
type route struct {
	roundTrip time.Duration
	loss      float64 // the part of packets that is lost, in each direction
}

func (r route) rule() nodes.Rule { return nodes.Rule{Delay: r.roundTrip / 2, Loss: r.loss} }

// routes are what the table measures. The first is the one that others are compared with.
func routes() (all []route) {
	all = []route{{}}
	for _, roundTrip := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, largest} {
		for _, loss := range []float64{0, 0.001, 0.01} {
			all = append(all, route{roundTrip, loss})
		}
	}
	return all
}

// distance prints what the nodes cost at a distance from each other.
func distance(ctx context.Context, o *options) error {
	return with(ctx, o, func(c *cluster) error {
		fmt.Printf("| round trip | loss | create at the leader p50, p99 | create at another p50, p99 | its event at the leader p50 | cached get p50 | creates/s of %d clients, p50, p99 | of the first row | failed | elections |\n", o.clients)
		fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
		local := 0.0
		for _, r := range routes() {
			row, err := measureRoute(ctx, o, c, r)
			if err != nil {
				return fmt.Errorf("at %v with loss %v: %w", r.roundTrip, r.loss, err)
			}
			if local == 0 {
				local = row.many.rate()
			}
			row.print(r, local)
		}
		if o.hold == 0 {
			return nil
		}
		return hold(ctx, o, c)
	})
}

// routeRow is one row of the table.
type routeRow struct {
	leader, other, event, cached, many *latencies
	elections                          uint64
}

func measureRoute(ctx context.Context, o *options, c *cluster, r route) (row routeRow, err error) {
	before, err := c.roles(ctx)
	if err != nil {
		return row, err
	}
	if err := c.shape(ctx, r.rule()); err != nil {
		return row, err
	}
	if row.leader, err = c.creates(ctx, o.each, 1, before.leader); err != nil {
		return row, err
	}
	if row.other, err = c.creates(ctx, o.each, 1, before.other); err != nil {
		return row, err
	}
	read := fmt.Sprintf("o-%d-0-0", c.created)
	if row.event, err = c.events(ctx, o.each, before.other, before.leader); err != nil {
		return row, err
	}
	if row.cached, err = c.reads(ctx, o.each, before.other, read); err != nil {
		return row, err
	}
	if row.many, err = c.creates(ctx, o.each, o.clients, c.names...); err != nil {
		return row, err
	}
	after, err := c.roles(ctx)
	row.elections = after.term - before.term
	return row, err
}

func (row *routeRow) print(r route, local float64) {
	fmt.Printf("| %d ms | %.1f %% | %s | %s | %s | %s | %.0f/s, %s | %.0f %% | %d | %d |\n",
		r.roundTrip.Milliseconds(), r.loss*100, row.leader.text(), row.other.text(), ms(row.event.quantile(0.5)), ms(row.cached.quantile(0.5)),
		row.many.rate(), row.many.text(), 100*row.many.rate()/local,
		row.leader.failed+row.other.failed+row.event.failed+row.cached.failed+row.many.failed, row.elections)
}

// text is the median and the 99th percentile.
func (l *latencies) text() string { return ms(l.quantile(0.5)) + ", " + ms(l.quantile(0.99)) + " ms" }

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000) }

// hold leaves the nodes alone for half of a time and then uses them, at the largest distance. It
// returns an error if there was an election.
func hold(ctx context.Context, o *options, c *cluster) error {
	if err := c.shape(ctx, route{roundTrip: largest}.rule()); err != nil {
		return err
	}
	before, err := c.roles(ctx)
	if err != nil {
		return err
	}
	select {
	case <-time.After(o.hold / 2):
	case <-ctx.Done():
		return ctx.Err()
	}
	busy, err := c.creates(ctx, o.hold/2, o.clients, c.names...)
	if err != nil {
		return err
	}
	after, err := c.roles(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\n%v at a round trip of %v, half of it idle: %d elections; %.0f creates/s in the other half, %d failed\n",
		o.hold, largest, after.term-before.term, busy.rate(), busy.failed)
	if after.term != before.term {
		return fmt.Errorf("term %d became %d without a cause", before.term, after.term)
	}
	return nil
}
