package diskguard

import "syscall"

// blockSize returns the size in bytes of the blocks in which the file system counts its space:
// Frsize. Bsize is the preferred size of a read. Where the two differ, as on shared folders of
// virtual machines, a full disk would look empty with Bsize.
func blockSize(stat *syscall.Statfs_t) uint64 {
	if stat.Frsize > 0 {
		return uint64(stat.Frsize)
	}
	return uint64(stat.Bsize)
}
