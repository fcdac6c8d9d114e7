package nodes

import "context"

// Running reports whether the processes of nodes exist.
type Running interface {
	// Running reports whether the node's process exists, even if it is paused.
	Running(ctx context.Context, name string) (bool, error)
}

// Witness records which nodes ended without an order.
type Witness interface {
	// Endings returns the ends since the last call.
	Endings() []Ending
}
