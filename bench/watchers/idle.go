package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"quorate/bench/measure"
	"quorate/bench/servers"
	"quorate/bench/solo"
)

const (
	creators = 16
	// eventTimeout bounds the wait for one event.
	eventTimeout = 10 * time.Second
	// settleTime is how long nodes are left alone before their memory is read.
	settleTime = 2 * time.Second
)

// idle measures idle watches of each kind.
func (o *options) idle(ctx context.Context, dir string) error {
	t := measure.NewTable(fmt.Sprintf("%d idle watches on %d connections", o.watches, o.connections),
		fmt.Sprintf("go run ./bench/watchers -watches %d -connections %d -rounds %d -creates %d", o.watches, o.connections, o.rounds, o.creates),
		"watches of", "watches", "KiB each", "core at rest, %", "event after ms, p50", "p99", "create that concerns none, µs", "without watches", "ratio")
	for _, k := range kinds(o.watches) {
		if o.only != "" && o.only != k.name {
			continue
		}
		if err := o.idleOf(ctx, dir, k, t); err != nil {
			return fmt.Errorf("watches of %s: %w", k.name, err)
		}
	}
	if len(t.Rows) == 0 {
		return fmt.Errorf("there is no kind %q", o.only)
	}
	return t.Print(os.Stdout)
}

// node is a node of one that objects are created on.
type node struct {
	*servers.Quorate
	client *solo.Client
	next   int // number of the next object that concerns no watch
}

func (o *options) startNode(ctx context.Context, dir, name string) (*node, error) {
	q, err := o.start(ctx, dir, name, 1)
	if err != nil {
		return nil, err
	}
	n := &node{Quorate: q}
	if n.client, err = q.Client(0); err != nil {
		return nil, errors.Join(err, q.Stop())
	}
	for i := range namespaces + 1 {
		name := fmt.Sprintf("watched-%d", i)
		if i == namespaces {
			name = others
		}
		if err := create(ctx, n.client, "/api/v1/namespaces", fmt.Sprintf(`{"metadata":{"name":%q}}`, name)); err != nil {
			return nil, errors.Join(err, q.Stop())
		}
	}
	return n, nil
}

// turn is what one node takes in a round.
type turn struct {
	n       *node
	results *[]measure.Result
}

// idleOf adds the row of one kind.
func (o *options) idleOf(ctx context.Context, dir string, k kind, t *measure.Table) (err error) {
	without, err := o.startNode(ctx, dir, k.name+"-without")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, without.Stop()) }()
	with, err := o.startNode(ctx, dir, k.name+"-with")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, with.Stop()) }()
	for _, n := range []*node{without, with} { // warm up
		if _, err := n.creates(ctx, k, o.creates); err != nil {
			return err
		}
	}
	before, err := settledMemory(ctx, with)
	if err != nil {
		return err
	}
	w, err := open(ctx, &with.Cluster, o.connections, o.watches, k.path)
	if err != nil {
		return err
	}
	defer w.close()
	after, err := settledMemory(ctx, with)
	if err != nil {
		return err
	}
	rest, err := measure.Share(ctx, with.PIDs(), o.rest)
	if err != nil {
		return err
	}
	events, err := o.events(ctx, with, k, w)
	if err != nil {
		return err
	}
	var costs, costsWithout []measure.Result
	turns := []turn{{without, &costsWithout}, {with, &costs}}
	for range o.rounds {
		for _, t := range turns {
			r, err := t.n.creates(ctx, k, o.creates)
			if err != nil {
				return err
			}
			*t.results = append(*t.results, r)
		}
		slices.Reverse(turns) // whoever is second costs more
	}
	if n := w.ended.Load(); n > 0 || len(w.arrived) > 0 {
		return fmt.Errorf("%d watches ended, and %d received what does not concern them", n, len(w.arrived))
	}
	a, b := measure.Mean(costs).CPU, measure.Mean(costsWithout).CPU
	t.Add(k.name, o.watches, float64(after-before)/1024/float64(o.watches), 100*rest,
		measure.Percentile(events, 50), measure.Percentile(events, 99), a, b, a/b)
	return nil
}

func settledMemory(ctx context.Context, n *node) (int64, error) {
	if err := measure.Sleep(ctx, settleTime); err != nil {
		return 0, err
	}
	now, _, err := solo.Memory(n.PIDs()[0])
	return now, err
}

// creates creates objects that concern no watch.
func (n *node) creates(ctx context.Context, k kind, count int) (measure.Result, error) {
	first := n.next
	n.next += count
	return measure.Run(ctx, n.PIDs(), creators, count, func(ctx context.Context, i int) (int, error) {
		path, body := k.unconcerned(first + i)
		return n.client.Do(ctx, http.MethodPost, path, body)
	})
}

// events creates objects that concern one watch each, one after the other, and returns how long
// each event took from the sending of the create on.
func (o *options) events(ctx context.Context, n *node, k kind, w *watches) (took []time.Duration, err error) {
	for s := range min(o.samples, o.watches) {
		path, body, watch := k.concerned(s)
		sent := time.Now()
		if err := create(ctx, n.client, path, body); err != nil {
			return nil, err
		}
		select {
		case a := <-w.arrived:
			if a.watch != watch {
				return nil, fmt.Errorf("sample %d concerns watch %d, but watch %d received an event", s, watch, a.watch)
			}
			took = append(took, a.at.Sub(sent))
		case <-time.After(eventTimeout):
			return nil, fmt.Errorf("watch %d received no event within %s", watch, eventTimeout)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return took, nil
}
