// Package gossip finds the nodes of a cluster and reports which are alive, using
// hashicorp/memberlist.
//
// Every message is encrypted with a key derived from the cluster key. Each start of a node has its
// own memberlist name, so that a node can return at another address (hashicorp/memberlist#157). The
// memberTable maps these starts to members: the newest start of a node counts. Of two live nodes
// that claim one name, a member of the cluster precedes a node that joins, then the older node
// precedes. The pure function admission, the same on all nodes, decides which nodes may take part,
// and both sides log the reason of a refusal. The join loop retries the configured addresses, and
// those of members last seen dead, until this node stops, and resolves names each time, so that
// nodes find each other again after a long partition.
//
// The transport of this package checks that packets, and the first message of each connection, are
// encrypted with the gossip key, and reports those that are not. The key of a connection's message
// can be checked only after the whole message has been read. So this package bounds the connections
// that are being read, in total and per address, the bytes read from each, and the lines that
// memberlist logs; quorate_cluster_gossip_limit_hits_total counts the connections, bytes and lines
// that a bound refused.
//
// Run owns the join loop and memberlist's goroutines, and stops them before it returns. Most
// callbacks run under memberlist's lock. They update the memberTable and the roster, which writes
// its file, and must not call memberlist, nor log while they hold the memberTable's lock.
package gossip
