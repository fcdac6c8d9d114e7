package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"quorate/chaos/client"
)

var errNoAnswer = errors.New("no request succeeded")

// value is what an object holds: 1 KiB.
var value = map[string]string{"value": strings.Repeat("x", 1<<10)}

// repeat makes each client send one request after the other for a time. Requests that are under way
// at its end count.
func repeat(ctx context.Context, each time.Duration, clients []*client.Client, request func(ctx context.Context, c *client.Client, worker, n int) error) (*latencies, error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	total := &latencies{}
	begun := time.Now()
	for worker, one := range clients {
		group.Go(func() {
			var mine latencies
			for n := 0; ctx.Err() == nil && time.Since(begun) < each; n++ {
				sent := time.Now()
				if err := request(ctx, one, worker, n); err != nil {
					mine.failed, mine.err = mine.failed+1, err
					continue
				}
				mine.all = append(mine.all, time.Since(sent))
			}
			mu.Lock()
			defer mu.Unlock()
			total.all = append(total.all, mine.all...)
			total.failed += mine.failed
			if mine.err != nil {
				total.err = mine.err
			}
		})
	}
	group.Wait()
	total.took = time.Since(begun)
	if len(total.all) == 0 {
		return total, errors.Join(errNoAnswer, total.err, ctx.Err())
	}
	return total, nil
}

// creates measures creations by workers that are spread over nodes.
func (c *cluster) creates(ctx context.Context, each time.Duration, workers int, names ...string) (*latencies, error) {
	c.created++
	run := c.created
	return repeat(ctx, each, c.spread(workers, names...), func(ctx context.Context, one *client.Client, worker, n int) error {
		_, _, err := one.Create(ctx, namespace, fmt.Sprintf("o-%d-%d-%d", run, worker, n), value)
		return err
	})
}

// reads measures cached reads of one object by one client of a node.
func (c *cluster) reads(ctx context.Context, each time.Duration, name, object string) (*latencies, error) {
	return repeat(ctx, each, c.spread(1, name), func(ctx context.Context, one *client.Client, _, _ int) error {
		_, _, _, err := one.CachedGet(ctx, namespace, object)
		return err
	})
}

// events measures the time from the sending of a creation at one node to its event at another.
func (c *cluster) events(ctx context.Context, each time.Duration, from, at string) (*latencies, error) {
	_, after, _, err := c.clients[at].List(ctx, namespace, "resourceVersion=0&limit=1")
	if err != nil {
		return nil, err
	}
	watching, cancel := context.WithCancel(ctx)
	arrived, opened := make(chan time.Time), make(chan struct{})
	var group sync.WaitGroup
	var broken error
	group.Go(func() {
		defer close(arrived)
		broken = c.clients[at].Watch(watching, namespace, after, func() { close(opened) }, func(e client.Event) {
			if e.Type == "ADDED" {
				select {
				case arrived <- time.Now():
				case <-watching.Done():
				}
			}
		})
	})
	measured, err := c.sendAndAwait(ctx, each, from, opened, arrived)
	cancel()
	group.Wait()
	if err != nil {
		return nil, errors.Join(err, broken)
	}
	return measured, nil
}

// sendAndAwait creates one object after the other, each after the event of the one before.
func (c *cluster) sendAndAwait(ctx context.Context, each time.Duration, from string, opened <-chan struct{}, arrived <-chan time.Time) (*latencies, error) {
	select {
	case <-opened:
	case <-time.After(startTimeout):
		return nil, errors.New("the watch was not opened")
	}
	c.created++
	l := &latencies{}
	begun := time.Now()
	for n := 0; time.Since(begun) < each; n++ {
		sent := time.Now()
		var group sync.WaitGroup
		var err error
		group.Go(func() {
			_, _, err = c.clients[from].Create(ctx, namespace, fmt.Sprintf("e-%d-%d", c.created, n), value)
		})
		at, ok := <-arrived
		group.Wait()
		if err != nil || !ok {
			return nil, errors.Join(err, errNoAnswer)
		}
		l.all = append(l.all, at.Sub(sent))
	}
	l.took = time.Since(begun)
	return l, nil
}
