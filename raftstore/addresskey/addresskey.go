// Package addresskey maps the address of a client or peer to the key under which a node limits what
// that address may use: an IPv4 address is its own key, and the IPv6 addresses of one network share
// a key.
//
// All functions are pure.
package addresskey

import (
	"net"
	"net/netip"
	"strings"
)

// networkBits is the length of the IPv6 prefix whose addresses share a key, because one host
// usually has the whole prefix.
const networkBits = 64

// Of returns the key of a remote address, HOST:PORT as in http.Request.RemoteAddr or HOST alone: an
// IPv4 address, or the network of an IPv6 address. A host that is no IP address is its own key.
func Of(remote string) string {
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
	return Network(ip.WithZone("")).String()
}

// Network returns the network of an address: an IPv4 address alone, or the first networkBits bits
// of an IPv6 address. It returns the zero Prefix for the zero Addr. Callers must unmap an
// IPv4-mapped IPv6 address first.
func Network(addr netip.Addr) netip.Prefix {
	bits := addr.BitLen()
	if addr.Is6() {
		bits = networkBits
	}
	network, _ := addr.Prefix(bits) // only the zero Addr has no prefix
	return network
}
