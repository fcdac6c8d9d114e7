//go:build !linux

package raftstore

import "syscall"

// blockSize is what a file system counts its blocks in.
func blockSize(stat *syscall.Statfs_t) uint64 { return uint64(stat.Bsize) }
