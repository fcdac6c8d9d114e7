package nodes

import "quorate/chaos/disk"

// Data provides access to the files of nodes. The files of a running node must only be read.
type Data interface {
	DataDir(name string) string
}

// Disks provides each node's data with a disk of its own, which can inject faults.
type Disks interface {
	Disk(name string) *disk.Disk
}
