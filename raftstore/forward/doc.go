// Package forward is how a node asks its peers: writes and read indexes of the leader, terms of everyone.
//
// Client keeps one connection per peer. What matters most here is what is known when a write fails: an error that wraps
// ErrNotSent says that no byte of it left this node, so that it may go to another leader; after any other error the write
// may still be applied. Nothing is ever sent twice: gRPC's own retries are off (transport.Mux.Connect).
package forward
