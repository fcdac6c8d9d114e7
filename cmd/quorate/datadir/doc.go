// Package datadir owns the files of a node's data directory that are not Raft's: the lock, the format marker, the identity of the
// node, the cluster's key, and the credentials that an operator on this machine uses.
//
// Open refuses a directory that is in use, of another node, of another cluster key or of a newer format, in one line that says
// what to do. Every file appears whole or not at all. It has no goroutines.
package datadir
