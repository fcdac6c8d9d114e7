// Package manager tests controller-runtime, as it comes, on a cluster whose leaders are killed: two
// replicas of a manager elect one of them with a Lease, and whichever leads must reconcile every
// object to its last state.
package manager
