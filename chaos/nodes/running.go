package nodes

import "context"

// Running tells whether the nodes' processes are there.
type Running interface {
	// Running reports whether the node's process is there, also while it is paused.
	Running(ctx context.Context, name string) (bool, error)
}

// Witness remembers which nodes exited without an order to do so.
type Witness interface {
	// Endings are those since it was asked last.
	Endings() []Ending
}
