// Package checksum compares the states of all nodes, which must be equal after the same log entry.
// The leader compares them regularly, and raises an alarm about nodes that have diverged; an
// operator can request a comparison at any node. A comparison pins a state, and each node computes
// the checksum of its own copy while it continues to serve requests.
package checksum
