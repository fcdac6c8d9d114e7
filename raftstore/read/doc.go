// Package read serves linearizable reads, and pages of retained states.
//
// A Reader confirms read indexes. On a leader it asks other voters for their terms until a quorum
// is known to be in no later term; on a follower it asks the leader. Readers that wait at the same
// time share one confirmation. Reader.Run drives two batchers, one for each role.
//
// A pin is a log entry that changes no object, but makes every node retain the state at its index
// for PinnedFor. Pins proposes pins, Retained holds this node's retained states, and Pages fetches
// states that this node has lost from other nodes. DESIGN.md of package raftstore has the reasons,
// under "Linearizable reads" and "States for lists in pages".
package read
