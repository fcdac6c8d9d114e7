// Package nodes starts, kills and restarts the nodes of a cluster under test: as processes on this
// machine, or through commands of an operator (for containers or machines). It owns every process
// that it starts and ends no others.
package nodes
