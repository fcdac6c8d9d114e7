// Package leadership tracks which node leads the cluster, and moves leadership.
//
// A Tracker holds the current epoch: one term in which this node leads. The epoch is ready once
// this node has applied an entry of that term. Writes and reads look up the current epoch, and stop
// waiting when it ends. A Leadership turns Raft's signals into epochs (Follow), lets a lone voter
// elect itself (SelfElect), campaigns as soon as the leader's process has ended instead of waiting
// for missed heartbeats (FailOver), and transfers leadership (Transfer, HandOver). ProbeVoters
// finds the voters that do not respond while no leader is known, and Refuse refuses requests that
// would wait to no avail. The store runs Follow, FailOver and ProbeVoters on a goroutine each.
package leadership
