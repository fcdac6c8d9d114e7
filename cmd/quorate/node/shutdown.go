package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// running is a started node: one part for each component, and the steps between their ends.
type running struct {
	group *errgroup.Group

	api, cluster, store, rpc, peers, upkeep *part

	handOver   func()
	closeFiles func() error
}

// part is a component that runs until it is ended.
type part struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when its goroutines are gone
}

// start runs a component. Its context does not end with the node's: shutdown ends the components
// one after the other.
func (r *running) start(name string, run func(context.Context) error) *part {
	ctx, cancel := context.WithCancel(context.Background())
	p := &part{cancel: cancel, done: make(chan struct{})}
	r.group.Go(func() error {
		defer close(p.done)
		err := run(ctx)
		if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
			return nil
		}
		if err == nil {
			return fmt.Errorf("%s ended by itself", name)
		}
		return fmt.Errorf("%s: %w", name, err)
	})
	return p
}

// end cancels the component's context and waits for it to return.
func (p *part) end() {
	p.cancel()
	<-p.done
}

// shutdown ends the node. The API becomes not ready, stops accepting connections, ends watches and
// finishes requests. Then the node transfers leadership, announces to the members that it has
// stopped (it stays a member), stops serving other nodes, closes Raft, and closes its files.
func (r *running) shutdown() error {
	r.api.end()
	r.handOver()
	r.cluster.end()
	r.rpc.end()
	r.store.end()
	r.peers.end()
	r.upkeep.end()
	return r.closeFiles()
}

// handOver transfers leadership, so that writes continue without an election. Without a transfer
// target the node stops all the same.
func (n *Node) handOver(group *errgroup.Group) {
	if !n.store.IsLeader() {
		return
	}
	done := make(chan error, 1)
	group.Go(func() error {
		done <- n.store.TransferLeadership("")
		return nil
	})
	limit := time.NewTimer(handOverLimit)
	defer limit.Stop()
	select {
	case err := <-done:
		if err != nil {
			n.logger.Info("leadership was not transferred", "reason", err)
		}
	case <-limit.C:
		n.logger.Warn("leadership transfer did not finish in time", "limit", handOverLimit)
	}
}
