// Package diskguard handles full and hanging disks of the cluster's nodes.
//
//   - Alarms holds the alarms that this node has raised.
//   - Space measures the free space of this node's disk and raises and clears the alarms about it.
//   - Shortage asks all voters for their space while this node leads. It refuses writes while too few
//     voters have space, and transfers leadership away from a leader that has none.
//   - Stall silences a leader whose log write hangs, so that the other voters elect another one.
//   - Stable stores Raft's term and vote, and waits for space where Raft would panic.
//
// DESIGN.md of package raftstore has the reasons, under "Full disks".
package diskguard
