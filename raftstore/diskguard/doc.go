// Package diskguard handles full, slow and hanging disks of the cluster's nodes.
//
//   - Alarms holds the alarms that this node has raised.
//   - Space measures the free space of this node's disk. It raises and clears the alarm NoSpace,
//     and clears DiskStalled, which the store raises.
//   - Shortage asks all voters for the state of their disks while this node leads. It refuses writes
//     while too few voters have space, lets deletions wait until their logs are smaller, and
//     transfers leadership away from a leader whose disk has no space, or is much slower than
//     another voter's. Between two reports of the voters, it admits no more than they have room for.
//   - Stall stops the heartbeats of a leader whose log write hangs, so that the other voters elect
//     another leader.
//   - Stable stores Raft's term and vote, and waits for space where Raft would panic.
//
// DESIGN.md of package raftstore has the reasons, under "Full disks" and "Slow
// disks".
package diskguard
