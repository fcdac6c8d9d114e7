// Package datadir owns the files of a node's data directory that are not Raft's: the lock, the
// format marker, the identity of the node, the cluster key, and the credentials for an operator on
// this machine.
//
// Open refuses a directory that is in use, or that belongs to another node, another cluster key or
// a newer format, with a one-line error that says what to do. Every file appears completely or not
// at all. The package has no goroutines.
package datadir
