// Package transport is the peer address of a node: one mutual-TLS listener that carries both Raft
// and gRPC.
//
// The ALPN protocol of the handshake says what a connection is for: "quorate-raft" goes to the Raft
// stream layer, "h2" to the gRPC server. A certificate counts when the cluster's authority signed
// it and it names a peer (URI SAN quorate://peer/<node name>); host names and addresses are not
// looked at, since identity is not the address.
//
// Handshakes run off the accept loop, each with a deadline, a bounded number at a time; a refused
// one costs one log line. Mux.Run owns every goroutine and every accepted connection: when it
// returns they are gone.
//
// Raft wraps the library's network transport. It installs no heartbeat fast path
// (hashicorp/raft#695): heartbeats queue to the main loop like every other request, so only that
// loop changes term and state. It bounds the bytes of a request, tells how far followers are
// (Followers), and has votes remembered by server id instead of address.
package transport
