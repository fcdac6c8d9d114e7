package diskguard

import "syscall"

// blockSize returns the size in bytes of the file system's blocks, in which it counts its space.
// Bsize is the preferred size of a read instead: where both differ, as on shared folders of virtual
// machines, a full disk would look empty.
func blockSize(stat *syscall.Statfs_t) uint64 {
	if stat.Frsize > 0 {
		return uint64(stat.Frsize)
	}
	return uint64(stat.Bsize)
}
