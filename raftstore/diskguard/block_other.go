//go:build !linux

package diskguard

import "syscall"

// blockSize returns the size in bytes of the file system's blocks, in which it counts its space.
func blockSize(stat *syscall.Statfs_t) uint64 { return uint64(stat.Bsize) }
