package nodes

import (
	"context"
	"fmt"
	"time"

	"quorate/chaos/client"
)

// pollInterval is how often a condition outside this process is looked at again.
const pollInterval = 50 * time.Millisecond

// Node is one member of the cluster under test.
type Node struct {
	Name string
	API  string // https://host:port
}

// Fleet is a cluster that can be hurt.
type Fleet interface {
	Nodes() []Node
	// Kill ends a node at once, as SIGKILL does, and returns when it is gone.
	Kill(ctx context.Context, name string) error
	// Start starts a node that was killed, on the data it left.
	Start(ctx context.Context, name string) error
}

// AwaitReady waits until every named node answers that it is ready.
func AwaitReady(ctx context.Context, clients map[string]*client.Client, names ...string) error {
	for _, name := range names {
		if err := Await(ctx, func() bool { return clients[name].Ready(ctx) }); err != nil {
			return fmt.Errorf("node %s is not ready: %w", name, err)
		}
	}
	return nil
}

// Await looks until the condition holds or ctx is done.
func Await(ctx context.Context, condition func() bool) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
