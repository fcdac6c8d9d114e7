// Package admin serves the operator's commands under /cluster/v1/: members, leave, transfer-leader,
// remove, snapshot, checksum and backup. The caller authenticates and authorizes each request
// before it calls the endpoint. The package has no goroutines.
package admin
