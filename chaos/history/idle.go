package history

import "time"

// IdleRead is one read of a cluster on which nobody writes.
type IdleRead struct {
	Kind string
	Node string
	// Local says that the node answers from its own state, with a leader or without.
	Local             bool
	Invoked, Answered time.Duration
	// Problem is why it got no answer, or what is wrong with the answer; empty: it was answered
	// rightly.
	Problem string
	// Wrong says that there was an answer, and it was not that of a correct server.
	Wrong bool
}
