// Package derived keeps what a node derives from the replicated state, such as an index of roles,
// as new as somebody needs it: who has to rely on a state asks for it and waits, and one goroutine
// brings what is derived from one state to the next.
package derived
