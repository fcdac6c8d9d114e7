// Package cluster makes nodes one cluster: it finds them (gossip), forms the first cluster of empty
// nodes (bootstrap), changes Raft's configuration as members join and leave (voters), and serves
// the Membership service, which nodes call on each other.
//
// Each part needs an earlier one, so they must be created in this order:
//
//	r, err := roster.Open(dataDir, name, id)                // identity, owners of names
//	peer, err := authority.PeerTLS(cluster.PeerTLS(r))      // r admits peers at each handshake
//	mux, err := transport.Listen(…TLS: peer.Config()…)
//	store, err := raftstore.Open(…Peers: mux, AddressOf: r.PeerAddr…)
//	c, err := cluster.New(cluster.Config{Roster: r, Connect: mux.Connect, Store: store, …})
//	c.Register(grpcServer)                                  // the Membership service, on the peer port
//	c.Run(ctx)                                              // beside store.Run
//
// Run owns all goroutines and returns after they have ended. When its context ends, gossip
// announces that this node has stopped; the node stays a member. Leave ends the membership.
//
// DESIGN.md shows why N empty nodes form exactly one cluster.
package cluster
