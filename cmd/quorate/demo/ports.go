package demo

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports of the nodes on loopback. They are below the range that operating systems use for outgoing
// connections, because such a connection could take the port of a node that is down.
const (
	lowestPort  = 12_000
	highestPort = 32_767
	// portAttempts is the maximum number of attempts to find free ports.
	portAttempts = 1000
)

// freeAddresses returns addresses on loopback that are currently free for both TCP and UDP, and not
// in taken, to which it adds them.
func freeAddresses(count int, taken map[string]bool) (addresses []string, err error) {
	for range portAttempts {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if taken[address] {
			continue
		}
		if err = free(address); err != nil {
			continue // used by another process: try another port
		}
		taken[address] = true
		if addresses = append(addresses, address); len(addresses) == count {
			return addresses, nil
		}
	}
	return nil, fmt.Errorf("no free ports on loopback: %w", err)
}

func free(address string) error {
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", address)
	if err != nil {
		return err
	}
	return udp.Close()
}
