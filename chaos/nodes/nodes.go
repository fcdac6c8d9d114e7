package nodes

import (
	"context"
	"fmt"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/network"
)

// pollInterval is the interval at which conditions outside this process are polled.
const pollInterval = 50 * time.Millisecond

// Node is a node of the cluster under test.
type Node struct {
	Name string
	API  string // https://host:port
}

// Fleet is a cluster under test. A fleet has further capabilities if it implements the interfaces
// below; use As to get them.
type Fleet interface {
	// Nodes returns the current nodes, whether they run or not. The caller may modify the result.
	Nodes() []Node
	// Kill ends a node immediately, as with SIGKILL, and returns after its process has ended.
	Kill(ctx context.Context, name string) error
	// Start starts a node that has ended, with its existing data.
	Start(ctx context.Context, name string) error
}

// As returns a fleet as T, one of the interfaces below, and whether the fleet has that capability.
// A fleet that implements T may still lack the capability because of its configuration, which its
// method Able then reports.
func As[T any](f Fleet) (able T, ok bool) {
	if limited, says := f.(interface{ Able(capability any) bool }); says && !limited.Able((*T)(nil)) {
		return able, false
	}
	able, ok = f.(T)
	return able, ok
}

// Stopper ends nodes gracefully, as with SIGTERM.
type Stopper interface {
	Stop(ctx context.Context, name string) error
}

// Pauser suspends the process of a node, as with SIGSTOP, and resumes it.
type Pauser interface {
	Pause(ctx context.Context, name string) error
	Resume(ctx context.Context, name string) error
}

// Link is a direction between two nodes, or between a node and Clients.
type Link = network.Link

// Rule determines what happens to the packets on a link. The zero Rule has no effect.
type Rule = network.Rule

// Clients stands for all clients in a Link.
const Clients = network.Clients

// Network shapes links between nodes.
type Network interface {
	// Shape sets the rules of all links at once. Links without a rule are good; nil removes all
	// rules.
	Shape(ctx context.Context, rules map[Link]Rule) error
	// Precise reports whether rules other than Drop are supported.
	Precise() bool
}

// Wiper deletes the data of a node that has ended.
type Wiper interface {
	Wipe(ctx context.Context, name string) error
}

// Grower adds nodes to the cluster, whose names it chooses, and removes nodes from the fleet that
// have left the cluster. A new node has an empty data directory.
type Grower interface {
	// Add starts another node that joins the others. voter determines whether it may become a
	// voter.
	Add(ctx context.Context, voter bool) (Node, error)
	// Forget ends a node if it runs, deletes its data and removes it from the fleet.
	Forget(ctx context.Context, name string) error
}

// Clocks changes the wall clock that a node sees. Measured durations are not affected.
type Clocks interface {
	// SetClock sets the difference of the node's wall clock from this machine's. It persists across
	// restarts of the node.
	SetClock(ctx context.Context, name string, offset time.Duration) error
}

// Failpoints arms failpoints in nodes that were built with them (package failpoint).
type Failpoints interface {
	// Arm makes a failpoint execute terms ("sleep(100)", "return()", …) from now on, including
	// after a restart of the node. Empty terms disarm it.
	Arm(ctx context.Context, name, point, terms string) error
}

// Operator runs commands of the binary, such as `members` or `remove n3`, as an administrator, and
// returns their output.
type Operator interface {
	Operate(ctx context.Context, name string, args ...string) (string, error)
}

// AwaitReady waits until all named nodes report that they are ready.
func AwaitReady(ctx context.Context, clients map[string]*client.Client, names ...string) error {
	for _, name := range names {
		if err := Await(ctx, func() bool { return clients[name].Ready(ctx) }); err != nil {
			return fmt.Errorf("node %s is not ready: %w", name, err)
		}
	}
	return nil
}

// Await polls until the condition holds or ctx is done.
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
