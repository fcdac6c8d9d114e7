// Package membership reads and changes the servers of the cluster, and holds log entries for
// servers that are joining it.
//
// Members reads Raft's latest configuration, which may not be committed yet, and changes it.
// Joiners holds log entries for followers that have received a snapshot and have not caught up.
// DESIGN.md of package raftstore has the reasons, under "Joiners".
package membership
