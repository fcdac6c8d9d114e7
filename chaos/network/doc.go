// Package network implements a virtual network on one Linux machine, for the nodes of a cluster
// under test and their clients. Each host is a network namespace with one interface, a TUN device;
// all clients share this process's own namespace, which has such a device too. This process reads
// the IP packets that the kernel sends to a device, and passes each to the device of its
// destination as the rule of the link demands: delayed, twice, or never. Every pair of hosts has
// two links, one for each direction.
//
// Nothing outlives the process: devices, namespaces and the processes in them end with it, however
// it ends. The package needs root and /dev/net/tun; Available returns the reason if it can't work.
//
// Each device has a goroutine that reads it, each host a goroutine on a thread of its own that
// holds the namespace, and one goroutine delivers delayed packets. Close ends them all and waits.
package network
