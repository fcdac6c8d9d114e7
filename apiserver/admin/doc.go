// Package admin serves the operator's commands under /cluster/v1/: members, leave, transfer-leader,
// remove, snapshot, checksum and backup.
//
// The caller must authenticate and authorize requests first. The package has no goroutines.
package admin
