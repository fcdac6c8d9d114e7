//go:build !linux

package diskguard

import "syscall"

// blockSize returns the unit, in bytes, in which a file system counts its blocks.
func blockSize(stat *syscall.Statfs_t) uint64 { return uint64(stat.Bsize) }
