// Package derived keeps data that a node derives from the replicated state, such as an index of
// roles, as recent as its users need. A user that relies on a state asks for it and waits; one
// goroutine advances the derived data from state to state.
package derived
