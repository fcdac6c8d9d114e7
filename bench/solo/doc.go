// Package solo runs a binary of quorate as a cluster of one node in a temporary directory, for
// experiments with its clients. The node has static tokens for the users of an experiment, and its
// processor time and memory can be read.
package solo
