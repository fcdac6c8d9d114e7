package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"quorate/raftstore/log"
)

const (
	// readyPoll is the interval at which readiness is checked while the node starts.
	readyPoll = 20 * time.Millisecond
	// handOverLimit bounds the transfer of leadership when the node stops.
	handOverLimit = 10 * time.Second
	// rpcLimit bounds the wait for requests of other nodes when the node stops.
	rpcLimit = 5 * time.Second
	// spacePause is the interval at which a node without space tries again.
	spacePause = time.Second
)

// Run runs the node until ctx ends, the node has left its cluster, or a component fails; then it
// ends all components in order.
func (n *Node) Run(ctx context.Context) error {
	defer tuneCollector(n.cfg.Getenv).stop()
	defer tuneThreads(n.cfg.Getenv)()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	n.operations.stop = stop

	group, failed := errgroup.WithContext(ctx)
	r := &running{group: group, handOver: func() { n.handOver(group) }, closeFiles: n.closeFiles}
	n.logger.Info("node starts", "node", n.cfg.Settings.Name, "version", n.cfg.Build.Version, "data", n.cfg.Settings.DataDir, "api", n.credentials.server)
	r.peers = r.start("peer address", n.peers.Run)
	r.rpc = r.start("requests of other nodes", n.serveRPC)
	r.store = r.start("store", n.store.Run)
	r.cluster = r.start("membership", n.cluster.Run)
	r.api = r.start("API", n.api.Run)
	r.upkeep = r.start("upkeep", n.upkeep)

	<-failed.Done()
	n.logger.Info("node stops", "node", n.cfg.Settings.Name)
	err := errors.Join(r.shutdown(), group.Wait())
	n.logger.Info("node stopped", "node", n.cfg.Settings.Name)
	return errors.Join(err, n.logs.close())
}

// serveRPC serves other nodes until ctx ends.
func (n *Node) serveRPC(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- n.rpc.Serve(n.peers.GRPC()) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	force := time.AfterFunc(rpcLimit, n.rpc.Stop)
	defer force.Stop()
	n.store.EndStreams()
	n.rpc.GracefulStop()
	return <-done
}

// upkeep announces when the node is ready, keeps the credentials fresh and writes the scheduled
// backups.
func (n *Node) upkeep(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return n.announce(ctx) })
	group.Go(func() error { return n.credentials.keepFresh(ctx) })
	group.Go(func() error { return n.writeBackups(ctx) })
	return group.Wait()
}

// announce waits until the node is ready and logs it once.
func (n *Node) announce(ctx context.Context) error {
	poll := time.NewTicker(readyPoll)
	defer poll.Stop()
	for n.store.Ready() != nil {
		select {
		case <-ctx.Done():
			return nil
		case <-poll.C:
		}
	}
	// gofail: var startBeforeReady struct{}
	if err := n.commit(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	leader, _ := n.store.Leader()
	n.logger.Info("node is ready", "node", n.cfg.Settings.Name, "leader", leader, "index", n.store.Applied())
	_, err := fmt.Fprintf(n.cfg.Stdout, "quorate: %s is ready at %s; try: %s\n", n.cfg.Settings.Name, n.credentials.server, n.kubectl())
	return err
}

// commit binds the data directory to this node. It waits for space on the disk: a node that ended
// instead would only be restarted.
func (n *Node) commit(ctx context.Context) error {
	pause := time.NewTicker(spacePause)
	defer pause.Stop()
	for said := false; ; said = true {
		err := n.dir.Commit()
		if !log.OutOfSpace(err) {
			return err
		}
		if !said {
			n.logger.Warn("the node's name is not stored yet: the disk is full", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-pause.C:
		}
	}
}
