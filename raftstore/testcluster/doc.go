// Package testcluster runs whole replicas in one test process: real Raft, TCP, TLS and fsync on
// loopback. Between each two nodes, in each direction, lies a proxy that tests cut to make
// partitions.
package testcluster
