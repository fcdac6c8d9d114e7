package node

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"quorate/cmd/quorate/settings"
)

// addresses are what this node tells others to dial.
type addresses struct {
	host string // empty: the bind addresses serve as they are
}

// advertised decides what others dial: what was configured, or an address of this machine where a bind address is a wildcard.
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

// of returns HOST:PORT to advertise for an address that is listened on.
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

// ownAddress is the first address of this machine that others might reach.
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

// local returns the address at which this machine reaches what listens at bound.
func local(bound string) string {
	_, port, err := net.SplitHostPort(bound)
	if err != nil || !wildcard(bound) {
		return bound
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// listenError says which flag to change when an address cannot be listened on.
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

// probe fails when an address cannot be listened on, for TCP and UDP. The library that listens there later cannot name the flag.
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
