// Package stable keeps a few small values, such as Raft's term and vote, in a file of fixed size. A
// change of one or several values is atomic and synced, and needs no free space on the disk. The
// values survive damage to one of the file's two copies of them.
//
// A File is locked for this process while it is open. Its methods are safe for concurrent use, and
// it has no goroutines.
package stable
