// Package keys turns the one secret of a cluster, cluster.key, into everything that is secret or
// certified in it: the gossip encryption key, the certificate authority, the token-signing key, and
// the TLS configurations built on them.
//
// Invariants: nodes that hold the same key derive the same authority, byte for byte, whatever their
// Go release; so every node issues its own certificates, at each start and in memory only, and none
// is ever copied. A peer certificate names its node in a URI (quorate://peer/<name>), which no
// other certificate of this authority carries.
//
// The package starts no goroutines. All its types may be used by any number of goroutines.
package keys
