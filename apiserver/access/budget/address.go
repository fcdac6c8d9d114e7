package budget

import (
	"net"
	"net/netip"
	"strings"
)

// networkBits is how much of an IPv6 address counts: a single host usually has all addresses of
// such a network.
const networkBits = 64

// AddressOf returns the key of a remote address, HOST:PORT as in http.Request.RemoteAddr: an IPv4
// address, or the network of an IPv6 address. What is no IP address is its own key.
func AddressOf(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		host = remote
	}
	if !strings.Contains(host, ":") {
		return host
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if ip = ip.Unmap(); ip.Is4() {
		return ip.String()
	}
	return netip.PrefixFrom(ip.WithZone(""), networkBits).Masked().String()
}
