// Package nodes starts, kills and restarts the nodes of a cluster under test. Processes are nodes
// on this machine: the package starts their processes and ends them all. Containers and Commands
// are nodes that exist already, in the Docker engine of this machine or behind commands that the
// caller configures.
package nodes
