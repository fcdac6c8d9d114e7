// Package keys derives everything that is secret or certified in a cluster from its one secret,
// cluster.key: the gossip encryption key, the certificate authority, the token-signing key, and the
// TLS configurations built on them.
//
// Nodes with the same key derive the same authority, byte for byte, whatever their Go release. So
// every node issues its own certificates at each start, in memory only, and none is copied between
// nodes. A peer certificate names its node in a URI (quorate://peer/<name>?id=<node id>), which no
// other certificate of this authority contains.
//
// The package starts no goroutines. All its types are safe for concurrent use.
package keys
