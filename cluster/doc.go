// Package cluster makes nodes one cluster: it finds them (gossip), forms the first cluster of empty
// ones (bootstrap), keeps Raft's configuration in step with who is there (voters), and answers what
// nodes ask of each other about membership.
//
// Wiring, in this order, since each needs the one before:
//
//	r, err := roster.Open(dataDir, name, id)                // who this node is, and who owns which name
//	peer, err := authority.PeerTLS(cluster.PeerTLS(r))      // its certificate; r is asked at every handshake
//	mux, err := transport.Listen(…TLS: peer.Config()…)
//	store, err := raftstore.Open(…Peers: mux, AddressOf: r.PeerAddr…)
//	c, err := cluster.New(cluster.Config{Roster: r, Connect: mux.Connect, Store: store, …})
//	c.Register(grpcServer)                                  // the Membership service, on the peer port
//	c.Run(ctx)                                              // beside store.Run
//
// Goroutines: Run owns all of them and returns after they have. On return of the context gossip
// says that this node stopped; it stays a member. Leave gives the membership up.
//
// DESIGN.md says how exactly one cluster comes out of N empty nodes.
package cluster
