package nodes

import "quorate/chaos/disk"

// Data gives access to the files of nodes. Those of a node that runs are only to be looked at.
type Data interface {
	DataDir(name string) string
}

// Disks puts a disk of its own, which goes wrong on demand, below each node's data.
type Disks interface {
	Disk(name string) *disk.Disk
}
