package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// disks prints what slow fsyncs cost. Clients of a follower with a slow disk wait for it, because a
// write returns once the node that the client uses has applied it. So while one follower is slow,
// the clients use the other nodes.
func disks(ctx context.Context, o *options) error {
	return with(ctx, o, func(c *cluster) error {
		fmt.Println("| slow nodes | fsync | 1 client p50, p99 | 32 clients | 300 clients | elections |")
		fmt.Println("|---|---|---|---|---|---|")
		for _, delay := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond} {
			if err := measureDisks(ctx, o, c, slowDisks{"all", delay, c.names}, c.names); err != nil {
				return err
			}
		}
		const slow = 50 * time.Millisecond
		r, err := c.roles(ctx)
		if err != nil {
			return err
		}
		others := slices.DeleteFunc(slices.Clone(c.names), func(name string) bool { return name == r.other })
		if err := measureDisks(ctx, o, c, slowDisks{"one follower", slow, []string{r.other}}, others); err != nil {
			return err
		}
		return measureDisks(ctx, o, c, slowDisks{"the leader at first", slow, []string{r.leader}}, c.names)
	})
}

// slowDisks are the nodes whose fsyncs take longer.
type slowDisks struct {
	which string // as the table names them
	delay time.Duration
	names []string
}

// measureDisks prints the row of some slow disks, for clients of some nodes.
func measureDisks(ctx context.Context, o *options, c *cluster, d slowDisks, of []string) error {
	before, err := c.roles(ctx)
	if err != nil {
		return err
	}
	if err := c.catchUp(ctx); err != nil {
		return fmt.Errorf("catch up before %v of %s: %w", d.delay, d.which, err)
	}
	c.slow(d.delay, d.names...)
	defer c.slow(0)
	var cells string
	for _, workers := range []int{1, 32, 300} {
		l, err := c.creates(ctx, o.each, workers, of...)
		if err != nil {
			return fmt.Errorf("%v of %s with %d clients: %w", d.delay, d.which, workers, err)
		}
		if workers == 1 {
			cells += l.text() + " | "
			continue
		}
		cells += fmt.Sprintf("%.0f/s, %s | ", l.rate(), l.text())
	}
	after, err := c.roles(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("| %s | + %d ms | %s%d |\n", d.which, d.delay.Milliseconds(), cells, after.term-before.term)
	return nil
}

// catchUp waits until each node has applied what was written before: a write returns once the node
// that the client uses has applied it.
func (c *cluster) catchUp(ctx context.Context) error {
	for _, name := range c.names {
		if _, err := c.creates(ctx, time.Millisecond, 1, name); err != nil {
			return err
		}
	}
	return nil
}
