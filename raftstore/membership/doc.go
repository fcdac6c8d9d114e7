// Package membership knows the servers of the cluster, changes them, and keeps the log for those
// that are joining it.
//
// Members reads Raft's latest configuration, which may not be committed yet, and changes it.
// Configurations queues the committed ones. Joiners holds the log for followers that were sent a
// snapshot and have not caught up. DESIGN.md of package raftstore has the reasons, under "Joiners".
package membership
