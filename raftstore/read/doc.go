// Package read serves linearizable reads, and pages of retained states.
//
// A Reader confirms read indexes. On a leader it asks a quorum of the voters for their terms; on a
// follower it asks the leader. Readers that wait at the same time share one confirmation. Run
// drives the two batchers that do this.
//
// A pin is a log entry that changes nothing, but makes every node retain the state at its index for
// PinnedFor. Pins proposes them, Retained holds this node's retained states, and Pages fetches
// retained states that this node has lost from other nodes. DESIGN.md of package raftstore has the
// reasons, under "Linearizable reads" and "States for lists in pages".
package read
