// Command attack measures what a node and a client that behaves notice of attacks.
//
//	go run ./bench/attack                    # all attacks, against bin/quorate
//	go run ./bench/attack -only yaml,unread
//	go run ./bench/attack -binary OTHER -list
//
// Each attack meets a node of its own. The command prints the node's resident memory before the
// attack, the most that it has meanwhile, what the attacker got, and the codes and latencies of a
// user who creates and gets small objects, 100 a second, on a connection of its own. The attackers
// use the same processors as the node, so the latencies are more than those on a machine of its own.
package main
