package network

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// candidates is the number of subnets that a network may use: 198.18.0.0/15 is reserved for network
// tests (RFC 2544), so no real network should use it.
const candidates = 512

// reserve reserves a subnet that nothing on this machine uses, until the reservation is closed or
// the process ends.
func reserve() (netip.Prefix, io.Closer, error) {
	taken, err := taken()
	if err != nil {
		return netip.Prefix{}, nil, err
	}
	for i := range candidates {
		subnet := netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18 + byte(i>>8), byte(i), 0}), 24)
		if overlapsAny(subnet, taken) {
			continue
		}
		// A network namespace can have only one socket of this name, which ends with its process.
		socket, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: "@quorate-network-" + subnet.String()})
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return netip.Prefix{}, nil, fmt.Errorf("reserve subnet %s: %w", subnet, err)
		}
		return subnet, socket, nil
	}
	return netip.Prefix{}, nil, errors.New("no subnet in 198.18.0.0/15 is free")
}

func overlapsAny(subnet netip.Prefix, taken []netip.Prefix) bool {
	for _, other := range taken {
		if subnet.Overlaps(other) {
			return true
		}
	}
	return false
}

// taken returns the subnets of this machine's interfaces and routes, without the default route.
func taken() ([]netip.Prefix, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var all []netip.Prefix
	for _, address := range addresses {
		prefix, err := netip.ParsePrefix(address.String())
		if err != nil {
			return nil, err
		}
		all = append(all, prefix.Masked())
	}
	file, err := os.Open("/proc/thread-self/net/route")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	routes, err := parseRoutes(file)
	return append(all, routes...), err
}

// parseRoutes parses the kernel's table of IPv4 routes, as in /proc/net/route, and leaves out the
// default route. The table begins with a line of headings. The second column is the destination and
// the eighth its mask, both hexadecimal in the byte order of the machine; parseRoutes assumes
// little-endian.
func parseRoutes(table io.Reader) (routes []netip.Prefix, err error) {
	lines := bufio.NewScanner(table)
	lines.Scan()
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 8 {
			return nil, fmt.Errorf("route %q: want at least 8 columns", lines.Text())
		}
		destination, err := strconv.ParseUint(fields[1], 16, 32)
		if err != nil {
			return nil, fmt.Errorf("route %q: %w", lines.Text(), err)
		}
		mask, err := strconv.ParseUint(fields[7], 16, 32)
		if err != nil {
			return nil, fmt.Errorf("route %q: %w", lines.Text(), err)
		}
		ones, _ := net.IPv4Mask(byte(mask), byte(mask>>8), byte(mask>>16), byte(mask>>24)).Size()
		if ones == 0 {
			continue
		}
		address := netip.AddrFrom4([4]byte{byte(destination), byte(destination >> 8), byte(destination >> 16), byte(destination >> 24)})
		routes = append(routes, netip.PrefixFrom(address, ones))
	}
	return routes, lines.Err()
}
