// Package gossip finds the nodes of a cluster and tells which are alive, over hashicorp/memberlist.
//
// Every message is encrypted with a key derived from the cluster key. Each start of a node takes
// part under a memberlist name of its own, so that a node is free to come back at another address
// (hashicorp/memberlist#157); the table in this package makes members out of these starts: of one
// node the newest start counts, and of two nodes that claim one name the one with the better right.
// Who may take part is decided by one pure function (judge), the same on all nodes, and the reason
// of a refusal is logged on both sides. Addresses to join, and those of members last seen dead, are
// tried for ever, names resolved anew each time: nodes that were cut off for long find each other
// again.
//
// memberlist reads a message whole before it can tell whether its sender has the key. So the
// connections that are read at a time are bounded, in total and per address, and so are the bytes
// that are read of each and the lines that memberlist logs; quorate_cluster_gossip_limit_hits_total
// counts what a bound kept out.
//
// Goroutines: Run owns the join loop and memberlist's own; memberlist's are told to stop before Run
// returns. Callbacks of memberlist run under its lock: they only touch the table, and never call
// memberlist or log while holding the table's lock.
package gossip
