// Package nodes starts, kills and restarts the nodes of a cluster under test: as processes of this
// machine, or through commands that an operator gives (containers, machines). It owns every process
// it starts and ends no other.
package nodes
