package nodes

import (
	"context"
	"fmt"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/network"
)

// pollInterval is how often a condition outside this process is looked at again.
const pollInterval = 50 * time.Millisecond

// Node is one member of the cluster under test.
type Node struct {
	Name string
	API  string // https://host:port
}

// Fleet is a cluster that can be hurt. What else can be done to one it says by implementing the
// interfaces below; ask As.
type Fleet interface {
	// Nodes are those that take part now, whether or not they run. The result is the caller's.
	Nodes() []Node
	// Kill ends a node at once, as SIGKILL does, and returns when it is gone.
	Kill(ctx context.Context, name string) error
	// Start starts a node that has ended, on the data it left.
	Start(ctx context.Context, name string) error
}

// As returns a fleet as T, one of the interfaces below, if that can be done to it. A fleet may have
// a method and yet not be able to, as it was configured: then it says so, and so does As.
func As[T any](f Fleet) (able T, ok bool) {
	if limited, says := f.(interface{ Able(capability any) bool }); says && !limited.Able((*T)(nil)) {
		return able, false
	}
	able, ok = f.(T)
	return able, ok
}

// Stopper ends nodes in order, as SIGTERM does.
type Stopper interface {
	Stop(ctx context.Context, name string) error
}

// Pauser stops the clock of a node's process, as SIGSTOP does, and lets it go on.
type Pauser interface {
	Pause(ctx context.Context, name string) error
	Resume(ctx context.Context, name string) error
}

// Link is a direction between two nodes, or between a node and Clients.
type Link = network.Link

// Rule is what happens to the packets on a link. The zero Rule is a good link.
type Rule = network.Rule

// Clients is the place of all clients in a Link.
const Clients = network.Clients

// Network shapes links between nodes.
type Network interface {
	// Shape sets the rules of all links at once; those not named are good. nil heals everything.
	Shape(ctx context.Context, rules map[Link]Rule) error
	// Precise reports whether rules other than Drop work.
	Precise() bool
}

// Wiper deletes the data directory of a node that has ended.
type Wiper interface {
	Wipe(ctx context.Context, name string) error
}

// Grower adds nodes to the cluster, which it names, and forgets those that have left it. A new node
// has an empty data directory.
type Grower interface {
	// Add starts a further node that joins the others; voter says whether it may ever vote.
	Add(ctx context.Context, voter bool) (Node, error)
	// Forget ends a node, if it runs, with its data; it is no part of the fleet any more.
	Forget(ctx context.Context, name string) error
}

// Clocks moves the wall clock that a node sees. What measures durations isn't affected.
type Clocks interface {
	// SetClock makes the node's wall clock differ from this machine's by offset. It stays so over
	// restarts of the node.
	SetClock(ctx context.Context, name string, offset time.Duration) error
}

// Failpoints arms points in the code of nodes that were built with them (package failpoint).
type Failpoints interface {
	// Arm makes a point do what terms say ("sleep(100)", "return()", …) now, and after a restart of
	// the node from its very beginning; no terms disarm it.
	Arm(ctx context.Context, name, point, terms string) error
}

// Operator runs commands of the binary against the cluster, such as `members` or `remove n3`, as an
// administrator would, and returns what they print.
type Operator interface {
	Operate(ctx context.Context, name string, args ...string) (string, error)
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
