// Package derived keeps data that a node derives from the replicated state, such as an index of
// roles, up to date. A caller that holds a state calls Refresher.Refresh, which waits until the
// data cover that state. One goroutine advances the data from state to state.
package derived
