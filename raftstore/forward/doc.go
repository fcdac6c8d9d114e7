// Package forward is how a node asks its peers: writes and read indexes of the leader, terms of everyone.
//
// Client keeps one connection per peer, and one stream on it for all writes (lane), which Server is the other end of (intake). A
// message takes what has gathered, in either direction; no timer makes it wait for more.
//
// What matters most here is what is known when a write fails: an error that wraps ErrNotSent says that it never left this node,
// or that the peer has surely not taken it up, so that it may go to another leader; after any other error the write may still
// be applied. Nothing is ever sent twice.
package forward
