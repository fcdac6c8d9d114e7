// Package admin serves the operator's commands under /cluster/v1/: members, leave, transfer-leader,
// remove, snapshot, checksum and backup.
//
// Callers are authenticated and authorized before they get here. It has no goroutines.
package admin
