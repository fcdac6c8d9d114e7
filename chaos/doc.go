// Package chaos runs clients against a cluster of real nodes, injects faults, and checks the
// responses that the clients received: every acknowledged write is present with its version,
// versions never decrease, quorum reads are never stale, and watchers receive every change once and
// in order.
//
// Clients use the public API only. Faults act on the processes, links, disks and clocks of the
// nodes, on the cluster's membership, and on points of the code (package failpoint).
package chaos
