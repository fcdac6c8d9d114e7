// Command conditions measures what three nodes cost at a distance from each other, and on slow
// disks.
//
//	go run ./chaos/conditions                      # all tables, a quarter of an hour
//	go run ./chaos/conditions -only distance       # round trips and loss between the nodes
//	go run ./chaos/conditions -only disks          # slow fsyncs
//	go run ./chaos/conditions -only distance -hold 10m
//
// The nodes run in network namespaces of their own on a virtual network, with their data on virtual
// disks (packages chaos/network and chaos/disk), so the command needs root, /dev/net/tun and
// /dev/fuse. Delay and loss are on the links between nodes, in both directions; the links of clients
// are good. The command is its own load generator and carries all packets, on the same processors
// as the nodes: compare the rows of a table with its first row, not with other benchmarks.
//
// The tables are printed in Markdown. With -hold, the table of distances is followed by an idle and a
// busy half of that time under the largest round trip, and the command fails if there was an election
// in it.
package main
