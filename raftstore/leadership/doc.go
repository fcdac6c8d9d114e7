// Package leadership tracks which node leads the cluster, and moves leadership.
//
// A Tracker holds the epoch in which this node leads: one term, which is ready once this node has
// applied an entry of it. Writes and reads look up the current epoch, and stop waiting when it
// ends. A Leadership turns Raft's signals into epochs (Follow), lets a lone voter elect itself
// (SelfElect), replaces a leader whose process has ended before its heartbeats are missed
// (FailOver), and transfers leadership (Transfer, HandOver). The store runs Follow and FailOver on
// two goroutines.
package leadership
