// Package smalldisk gives tests a disk that they can fill: a file system in memory, of its own,
// whose writes fail with ENOSPC as any full disk's do. It needs root, and Linux.
package smalldisk
