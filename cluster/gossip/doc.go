// Package gossip finds the nodes of a cluster and reports which are alive, using
// hashicorp/memberlist.
//
// Every message is encrypted with a key derived from the cluster key. Each start of a node has its
// own memberlist name, so that a node can return at another address (hashicorp/memberlist#157). The
// memberTable maps these starts to members: the newest start of a node counts. If two live nodes
// claim one name, a member of the cluster has precedence over a node that joins, and otherwise the
// older node over the younger. The function admission, the same on all nodes, decides which nodes
// may take part, and a node that refuses another logs the reason. The join loop retries the
// configured addresses, and those of dead members, until this node stops. It resolves host names
// each time, so that nodes find each other again after a long partition.
//
// The transport of this package checks that packets, and the first message of each connection, are
// encrypted with the gossip key, and reports those that are encrypted with another key. The key of
// a connection's message can be checked only after the whole message has been read. So this package
// bounds the connections that are being read, in total and per address, the bytes read from each,
// and the lines that memberlist logs; quorate_cluster_gossip_limit_hits_total counts what each
// bound refused.
//
// Run owns the join loop and memberlist's goroutines, and stops them before it returns. Most
// callbacks run under memberlist's lock. They update the memberTable and the roster, which writes
// its file. They must not call memberlist, and queue their log lines instead of writing them.
package gossip
