// Package testcluster runs several nodes in one test process, with real Raft, TCP, TLS and fsync on
// loopback. Each direction between two nodes passes a proxy, which tests cut to make partitions.
package testcluster
