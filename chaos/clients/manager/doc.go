// Package manager tests unmodified controller-runtime on a cluster whose leaders are killed. Two
// replicas of a manager elect one of them with a Lease, and the elected replica must reconcile
// every object to its last state.
package manager
