// Package smalldisk gives tests a file system in memory that they can fill, whose writes then fail
// with ENOSPC. It needs root, and Linux.
package smalldisk
