// Package cluster makes nodes one cluster: it finds them (gossip), forms the first cluster of empty
// nodes (bootstrap), changes Raft's configuration as members come and leave (voters), and serves
// the Membership service, which nodes call on each other.
//
// Wiring, in this order, since each needs the one before:
//
//	r, err := roster.Open(dataDir, name, id)                // identity, owners of names
//	peer, err := authority.PeerTLS(cluster.PeerTLS(r))      // r admits peers at each handshake
//	mux, err := transport.Listen(…TLS: peer.Config()…)
//	store, err := raftstore.Open(…Peers: mux, AddressOf: r.PeerAddr…)
//	c, err := cluster.New(cluster.Config{Roster: r, Connect: mux.Connect, Store: store, …})
//	c.Register(grpcServer)                                  // the Membership service, on the peer port
//	c.Run(ctx)                                              // beside store.Run
//
// Goroutines: Run owns all of them and returns after they have. When its context ends, gossip
// announces that this node has stopped; it stays a member. Leave ends the membership.
//
// DESIGN.md shows why N empty nodes form exactly one cluster.
package cluster
