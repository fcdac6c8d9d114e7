package node

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"quorate/cmd/quorate/settings"
)

// addresses holds the host that this node advertises.
type addresses struct {
	host string // empty: the bind addresses are advertised
}

// advertised returns the host that others dial: the configured one, or an address of this machine
// if a bind address is a wildcard.
func advertised(listen settings.Listen) (addresses, error) {
	if listen.AdvertiseHost != "" {
		return addresses{listen.AdvertiseHost}, nil
	}
	if !wildcard(listen.API) && !wildcard(listen.Peer) && !wildcard(listen.Gossip) {
		return addresses{}, nil
	}
	host, err := ownAddress()
	return addresses{host}, err
}

// of returns the HOST:PORT to advertise for a listener's address.
func (a addresses) of(bound string) string {
	_, port, err := net.SplitHostPort(bound)
	if a.host == "" || err != nil {
		return bound
	}
	return net.JoinHostPort(a.host, port)
}

func wildcard(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "" || ip != nil && ip.IsUnspecified())
}

// ownAddress returns the first global unicast address of this machine, an IPv4 one if there is any.
func ownAddress() (string, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return "", fmt.Errorf("list this machine's addresses: %w", err)
	}
	var other string
	for _, one := range all {
		network, ok := one.(*net.IPNet)
		if !ok || !network.IP.IsGlobalUnicast() {
			continue
		}
		if network.IP.To4() != nil {
			return network.IP.String(), nil
		}
		other = network.IP.String()
	}
	if other == "" {
		return "", errors.New("no address of this machine for others to dial: give --advertise-host")
	}
	return other, nil
}

// local returns the address at which this machine reaches a listener bound to bound.
func local(bound string) string {
	_, port, err := net.SplitHostPort(bound)
	if err != nil || !wildcard(bound) {
		return bound
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// listenError returns the error of a failed listen, with the flag to change.
func listenError(flag, address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s %s is in use by another process: stop that one, or choose another address", flag, address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s %s is no address of this machine: choose one that is, and give the other as --advertise-host", flag, address)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s %s: this user may not listen there: choose a port above 1023", flag, address)
	}
	return fmt.Errorf("%s %s: %w", flag, address, err)
}

// probe returns an error if address can't be bound for TCP and UDP. The library that binds it later
// can't name the flag.
func probe(flag, address string) error {
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		return listenError(flag, address, err)
	}
	udp, err := net.ListenPacket("udp", tcp.Addr().String())
	if err != nil {
		return errors.Join(listenError(flag, address, err), tcp.Close())
	}
	return errors.Join(tcp.Close(), udp.Close())
}
