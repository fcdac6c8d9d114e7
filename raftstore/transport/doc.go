// Package transport implements the peer address of a node: one mutual-TLS listener that carries
// both Raft and gRPC.
//
// The ALPN protocol of the handshake selects the use of a connection: the Raft stream layer
// receives "quorate-raft", the gRPC server "h2", and packages direct and appendrpc have protocols of
// their own. A certificate is accepted if the cluster's authority signed it and it names a peer (URI
// SAN quorate://peer/<node name>). Host names and addresses in a certificate are not checked, because
// a node's identity does not depend on its address.
//
// Handshakes run outside the accept loop, each with a deadline. Their number is bounded, in total
// and for each IPv4 address or IPv6 network. A connection beyond a bound replaces the one that is
// least likely to be a peer's: preferably one from an address of no member, then one from the
// address with the most connections, then one that has sent no ClientHello, then the oldest. If
// none may be replaced, the new connection is refused. Log lines about refused connections are
// limited in rate. The bytes sent to each peer are counted below TLS. When Mux.Run returns, its
// goroutines have ended and every accepted connection is closed.
//
// Raft wraps the library's network transport. It installs no heartbeat fast path
// (hashicorp/raft#695): heartbeats queue to the main loop like every other request, so only that
// loop changes term and state. It bounds the bytes of a request, reports what followers have stored
// (Followers), sends small batches of commands to idle followers while the leader stores them
// (EarlyLog), passes commits to Raft before the next append (AdvanceCommit), has the content of a
// snapshot transferred before the library's request to install it (SetSender), and makes Raft record
// votes by server id instead of by address.
package transport
