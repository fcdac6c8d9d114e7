package raftstore

import "syscall"

// blockSize is what a file system counts its blocks in. Bsize is what it likes to be read by: where the two differ, as on shared folders of
// virtual machines, a full disk would look empty.
func blockSize(stat *syscall.Statfs_t) uint64 {
	if stat.Frsize > 0 {
		return uint64(stat.Frsize)
	}
	return uint64(stat.Bsize)
}
