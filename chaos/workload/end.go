package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

const (
	// arriveTimeout is the time limit for watchers to receive the last write.
	arriveTimeout = time.Minute
	// arrivePoll is the interval at which they are checked.
	arrivePoll = 20 * time.Millisecond
)

// Settle writes a last object and waits for at most a minute until every watcher has reached its
// version. The checker judges watchers that have not, by Watch.Reached and Record.End. Settle must
// follow Stop. It returns an error if the cluster accepts no write until ctx is done.
func (l *Load) Settle(ctx context.Context) error {
	last, err := l.create(ctx, func(client int) string { return fmt.Sprintf("end-%d", client) })
	if err != nil {
		return err
	}
	l.end = last
	ctx, cancel := context.WithTimeout(ctx, arriveTimeout)
	defer cancel()
	for _, w := range l.watching {
		for ctx.Err() == nil && w.position() < l.end {
			wait(ctx, arrivePoll)
		}
		if position := w.position(); position < l.end {
			l.Log.Warn("watcher did not arrive", "client", w.number, "position", position, "end", l.end)
		}
	}
	return nil
}

// create creates an object and returns its version, or 0 if the key exists. It makes each further
// attempt as a new client, whose number may be part of the key.
func (l *Load) create(ctx context.Context, key func(client int) string) (version uint64, err error) {
	for {
		w := l.worker()
		op, c, found := w.ask(history.Create, key(w.number))
		failed := errNoTargets
		if found {
			op.Value = fmt.Sprintf("%d/1", w.number)
			asked, cancel := context.WithTimeout(ctx, answerTimeout)
			o, outcome, err := c.Create(asked, l.Namespace, op.Key, valueOf(op.Value))
			cancel()
			op.Got = itemOf(o)
			w.recordWrite(op, outcome, err)
			if outcome == client.OK || outcome == client.Conflict {
				return o.Version, nil
			}
			failed = err
		}
		if w.rest(ctx); ctx.Err() != nil {
			return 0, fmt.Errorf("create an object: %w: %w", ctx.Err(), failed)
		}
	}
}

// Finals reads the state of every node, at least as new as the last write, and makes the nodes
// compare the checksums of their whole states. It retries until ctx is done. It must follow Settle.
// The error names the states that could not be read; the Record contains the others.
func (l *Load) Finals(ctx context.Context) error {
	w := l.worker()
	version, listed := w.list(ctx)
	for ; !listed && ctx.Err() == nil; version, listed = w.list(ctx) {
		w.rest(ctx)
	}
	if !listed {
		return fmt.Errorf("read the final state: %w", ctx.Err())
	}
	targets := l.Targets.All()
	finals, failed := make([]history.Final, len(targets)), make([]error, len(targets))
	var all sync.WaitGroup
	for i, target := range targets {
		one := l.worker()
		all.Go(func() { finals[i], failed[i] = one.final(ctx, target, version) })
	}
	all.Wait()
	l.finals = slices.DeleteFunc(finals, func(f history.Final) bool { return f.Node == "" })
	return errors.Join(errors.Join(failed...), w.checksums(ctx))
}

// final reads the state of a node. It does not request the exact version, because the node would
// fetch a state that it no longer has from another node.
func (w *worker) final(ctx context.Context, target Target, version uint64) (history.Final, error) {
	query := fmt.Sprintf("resourceVersion=%d&resourceVersionMatch=NotOlderThan", version)
	for {
		asked, cancel := context.WithTimeout(ctx, answerTimeout)
		page, outcome, err := target.Client.Page(asked, w.Namespace, query)
		cancel()
		if outcome == client.OK {
			return history.Final{Node: target.Name, Version: page.Version, Items: itemsOf(page.Objects)}, nil
		}
		if w.rest(ctx); ctx.Err() != nil {
			return history.Final{}, fmt.Errorf("read the final state of %s: %s: %w", target.Name, outcome, err)
		}
	}
}

// checksums retries until every node has computed the checksum of its state.
func (w *worker) checksums(ctx context.Context) error {
	return w.insist(ctx, func(ctx context.Context, node Target) error {
		sums, err := node.Client.Checksums(ctx)
		if err != nil {
			return fmt.Errorf("ask %s for checksums: %w", node.Name, err)
		}
		w.sums = sums
		for _, target := range w.Targets.All() {
			if !slices.ContainsFunc(sums.Nodes, func(n client.Checksum) bool { return n.Name == target.Name }) {
				return fmt.Errorf("the checksums have none of %s", target.Name)
			}
		}
		if i := slices.IndexFunc(sums.Nodes, func(n client.Checksum) bool { return n.Problem != "" }); i >= 0 {
			return fmt.Errorf("checksum of %s: %s", sums.Nodes[i].Name, sums.Nodes[i].Problem)
		}
		return nil
	})
}
