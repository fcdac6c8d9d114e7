// Command join measures how an empty node joins a cluster that holds many objects while clients
// write: the time until it is a voter, what the writers notice, what is sent, and the leader's
// memory.
//
//	make build loadgen
//	go run ./bench/join                                       # 1,000,000 objects, 1,000 writes/s
//	go run ./bench/join -objects 50000 -break                 # the connection breaks once in the middle
//	go run ./bench/join -objects 50000 -snapshot-rate 8MiB    # sent more slowly
//
// It starts the nodes in a temporary directory on loopback, creates the objects with bin/loadgen,
// and then writes at a fixed rate, to objects of its own, on all nodes. The latency of a write
// counts from the moment that it was due, so that a node that stops for a second shows in the
// writes that were due in that second. After a phase without a change, it starts the node that
// joins. All that other nodes send to that node passes a proxy, which counts the bytes and breaks
// the connections for -break.
//
// The logs of the nodes are bounded (-log-bytes) below the size of the objects' entries, so that
// the node that joins needs a snapshot. Generator, proxy and all nodes share the machine: the
// writers' latencies on machines of their own are better in both phases.
package main
