// Package datadir owns the files of a node's data directory that are not Raft's: the lock, the
// node's id and identity, the cluster key, and the credentials for an operator on this machine.
//
// Open refuses a directory that is in use, that belongs to a node of another name or to another
// cluster key, or that a newer build has written. Its error is one line that says what to do. Every
// file appears completely or not at all. The package has no goroutines.
package datadir
