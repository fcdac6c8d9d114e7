// Package checksum compares the states of all nodes, which must be equal after the same log entry.
// The leader does so regularly and raises the alarm about nodes that have diverged; an operator may
// do so at any node. A comparison pins a state, and each node sums up its own copy while it serves
// others.
package checksum
