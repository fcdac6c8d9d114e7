// Package network implements a virtual network on one Linux machine, for the nodes of a cluster
// under test and their clients. Each host is a network namespace with one interface, a TUN device.
// All clients share the host Clients, which is this process's own namespace with such a device.
// This process reads the IP packets that the kernel sends to a device, and writes each to the
// device of its destination as the Rule of the link requires: now, later, twice, or never. Every
// pair of hosts has two links, one for each direction.
//
// Nothing outlives the process: its devices, its namespaces and the processes that it started in
// them end with it, even if it is killed. The package needs root and /dev/net/tun; Available
// returns why it cannot work.
//
// Each device has a goroutine that reads it. Each host except Clients has a goroutine on a thread
// of its own, which holds the namespace. One goroutine delivers delayed packets. Close ends them
// all and waits.
package network
