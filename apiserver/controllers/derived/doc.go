// Package derived keeps data that a node derives from the replicated state, such as an index of
// roles, up to date. Refresher.Refresh waits until the data cover a given state. The goroutine that
// runs Refresher.Answer alone advances the data from state to state.
package derived
