// Package admin serves the operator's commands under /cluster/v1/: members, leave, transfer-leader,
// remove, snapshot, checksum and backup, and the log of the node. The caller authenticates and
// authorizes each request before it calls the endpoint; the endpoint of a log entry also authorizes
// the object in its response. The package has no goroutines.
package admin
