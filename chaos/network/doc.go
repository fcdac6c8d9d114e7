// Package network is a virtual network on one Linux machine, for the nodes of a cluster under test and their clients. Each host of it
// is a network namespace with one interface, a TUN device; the place of all clients is this process's own namespace, which has such a
// device too. What the kernel sends to a device is an IP packet that this process reads, and hands to the device of its destination as
// the link's rule says: late, twice, or never. Every pair of hosts has two links, one each way.
//
// Nothing outlives the process: devices, namespaces and what was started in them end with it, however it ends. It takes root and
// /dev/net/tun; Available says why where it can't be.
//
// Goroutines: one reads each device, one delivers what was delayed, and one on a thread of its own stands for each host's namespace.
// Close ends them all and waits.
package network
