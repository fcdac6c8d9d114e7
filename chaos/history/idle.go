package history

import "time"

// IdleRead is one read of a cluster without writes.
type IdleRead struct {
	Kind string
	Node string
	// Local means that the node responds from its own state, with or without a leader.
	Local             bool
	Invoked, Answered time.Duration
	// Problem says why there was no response, or what is wrong with it; "" if the response was
	// right.
	Problem string
	// Wrong means that there was a response that no correct server sends.
	Wrong bool
}
