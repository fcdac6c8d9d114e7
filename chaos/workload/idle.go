package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

const (
	// idleEvery is the interval of each kind of read on each node.
	idleEvery = 250 * time.Millisecond
	// idleFollow is the interval at which the set of nodes is read.
	idleFollow = 100 * time.Millisecond
	// roundPoll is the interval at which the completion of a round is checked.
	roundPoll = 20 * time.Millisecond
)

// Idle is a cluster without writes, with readers of every kind on every node. It owns a goroutine
// for each kind of read on each node, until Close.
type Idle struct {
	load     *Load
	recorder *history.Recorder
	content  content
	kinds    []readKind

	stop   context.CancelFunc
	follow sync.WaitGroup

	mu       sync.Mutex
	reads    []history.IdleRead                  // guarded by mu
	answered map[string]map[string]time.Duration // by node and kind, when the last read was made that was answered; guarded by mu
}

// content is the state that all reads must return.
type content struct {
	namespace string
	version   uint64                   // at which it was
	objects   map[string]client.Object // by name
}

// StartIdle repeatedly reads the objects of a prepared and filled load on every node. Nothing may
// be written in its namespace.
func StartIdle(ctx context.Context, l *Load) (*Idle, error) {
	i := &Idle{load: l, recorder: l.Recorder, kinds: readKinds(), answered: map[string]map[string]time.Duration{}}
	w := l.worker()
	err := w.insist(ctx, func(ctx context.Context, node Target) error {
		page, outcome, err := node.Client.Page(ctx, l.Namespace, "")
		if outcome != client.OK {
			return unless(outcome, err)
		}
		i.content = content{l.Namespace, page.Version, map[string]client.Object{}}
		for _, o := range page.Objects {
			i.content.objects[o.Name] = o
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read namespace %s: %w", l.Namespace, err)
	}
	if err := i.catchUp(ctx); err != nil {
		return nil, err
	}
	ctx, i.stop = context.WithCancel(ctx)
	i.follow.Go(func() { i.readAll(ctx) })
	return i, nil
}

// catchUp waits until every node has applied the last write, by a quorum list: before that, a node
// may serve a cached read from an older state.
func (i *Idle) catchUp(ctx context.Context) error {
	for _, node := range i.load.Targets.All() {
		for {
			page, outcome, err := node.Client.Page(ctx, i.content.namespace, "")
			if outcome == client.OK && page.Version >= i.content.version {
				break
			}
			if wait(ctx, roundPoll); ctx.Err() != nil {
				return fmt.Errorf("node %s has not caught up: %w", node.Name, errors.Join(ctx.Err(), err))
			}
		}
	}
	return nil
}

// readAll keeps readers running on the current nodes.
func (i *Idle) readAll(ctx context.Context) {
	readers := map[Target]context.CancelFunc{}
	var all sync.WaitGroup
	defer all.Wait()
	for ctx.Err() == nil {
		now := i.load.Targets.All()
		for _, target := range now {
			if readers[target] != nil {
				continue
			}
			reading, cancel := context.WithCancel(ctx)
			readers[target] = cancel
			for lane, kind := range i.kinds {
				all.Go(func() { i.repeat(reading, target, lane, kind) })
			}
		}
		maps.DeleteFunc(readers, func(target Target, cancel context.CancelFunc) bool {
			gone := !slices.Contains(now, target)
			if gone {
				cancel()
			}
			return gone
		})
		wait(ctx, idleFollow)
	}
	for _, cancel := range readers {
		cancel()
	}
}

func (i *Idle) repeat(ctx context.Context, target Target, lane int, kind readKind) {
	for ctx.Err() == nil {
		i.read(ctx, target, lane, kind)
		wait(ctx, idleEvery)
	}
}

// read makes one read. A read in progress when the readers are stopped still gets its response.
func (i *Idle) read(ctx context.Context, target Target, lane int, kind readKind) {
	r := history.IdleRead{Kind: kind.name, Node: target.Name, Local: kind.local, Invoked: i.recorder.Now()}
	asked, cancel := asking(ctx)
	defer cancel()
	flaw, err := kind.do(asked, target.Client.Lane(lane), &i.content)
	r.Answered = i.recorder.Now()
	switch {
	case flaw != "":
		r.Problem, r.Wrong = flaw, true
	case err != nil:
		r.Problem = err.Error()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.reads = append(i.reads, r)
	if r.Problem == "" {
		if i.answered[r.Node] == nil {
			i.answered[r.Node] = map[string]time.Duration{}
		}
		i.answered[r.Node][r.Kind] = r.Invoked
	}
}

// Round waits until every kind of read was made again on every node and succeeded. The error names
// the reads that had not when ctx ended.
func (i *Idle) Round(ctx context.Context) error {
	from := i.recorder.Now()
	for {
		missing := i.missing(from)
		if len(missing) == 0 {
			return nil
		}
		if wait(ctx, roundPoll); ctx.Err() != nil {
			return fmt.Errorf("no answer to %s: %w", strings.Join(missing, ", "), ctx.Err())
		}
	}
}

// Page lists in pages on every node. The cluster may retain a state for that, which takes a log
// entry. Failures that last until the next write must therefore be detected before.
func (i *Idle) Page(ctx context.Context) {
	var all sync.WaitGroup
	for _, target := range i.load.Targets.All() {
		all.Go(func() { i.read(ctx, target, 0, pagedRead()) })
	}
	all.Wait()
}

// missing returns the kinds of reads and the nodes for which no read that began after from has
// succeeded.
func (i *Idle) missing(from time.Duration) (missing []string) {
	targets := i.load.Targets.All()
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, target := range targets {
		for _, kind := range i.kinds {
			if at, ever := i.answered[target.Name][kind.name]; !ever || at < from {
				missing = append(missing, kind.name+" on "+target.Name)
			}
		}
	}
	return missing
}

// Close ends all readers, and returns what they recorded.
func (i *Idle) Close() []history.IdleRead {
	i.stop()
	i.follow.Wait()
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.reads
}
