// Package leadership follows who leads the cluster, and moves leadership.
//
// A Tracker holds the epoch that this node leads: one term, which is ready once an entry of it has
// been applied here. Writes and reads look up the current epoch and give up when it ends. A
// Leadership turns Raft's signals into epochs (Follow), lets a lone voter elect itself (SelfElect),
// replaces a leader whose process has ended before its heartbeats are missed (FailOver), and
// transfers leadership (Transfer, HandOver). Follow and FailOver run on goroutines of the store's.
package leadership
