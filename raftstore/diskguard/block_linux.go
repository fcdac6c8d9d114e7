package diskguard

import "syscall"

// blockSize returns the unit, in bytes, in which a file system counts its blocks. Bsize is the
// preferred size of a read: where the two differ, as on shared folders of virtual machines, a full
// disk would look empty.
func blockSize(stat *syscall.Statfs_t) uint64 {
	if stat.Frsize > 0 {
		return uint64(stat.Frsize)
	}
	return uint64(stat.Bsize)
}
