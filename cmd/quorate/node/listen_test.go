package node

import (
	"net"
	"strings"
	"testing"

	"quorate/cmd/quorate/settings"
)

func TestAdvertised(t *testing.T) {
	t.Parallel()
	loopback := settings.Listen{API: "127.0.0.1:6443", Peer: "127.0.0.1:7443", Gossip: "127.0.0.1:7946"}
	reach, err := advertised(loopback)
	if err != nil || reach.of("127.0.0.1:6443") != "127.0.0.1:6443" {
		t.Errorf("bind addresses that can be dialled are advertised as they are: %v, %v", reach, err)
	}
	named := loopback
	named.AdvertiseHost = "n1"
	if reach, err := advertised(named); err != nil || reach.of("0.0.0.0:6443") != "n1:6443" {
		t.Errorf("--advertise-host is not used: %v, %v", reach, err)
	}
	wild := loopback
	wild.Peer = ":7443"
	reach, err = advertised(wild)
	if err != nil { // a machine with loopback alone
		if !strings.Contains(err.Error(), "give --advertise-host") {
			t.Error(err)
		}
		return
	}
	if host, _, err := net.SplitHostPort(reach.of(wild.Peer)); err != nil || net.ParseIP(host).IsUnspecified() {
		t.Errorf("a wildcard is advertised: %v, %v", reach, err)
	}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	for bound, want := range map[string]string{
		"0.0.0.0:6443": "127.0.0.1:6443", "[::]:6443": "127.0.0.1:6443", ":6443": "127.0.0.1:6443", "10.0.0.1:6443": "10.0.0.1:6443",
	} {
		if got := local(bound); got != want {
			t.Errorf("local(%s) = %s, want %s", bound, got, want)
		}
	}
}

func TestAddressInUseNamesTheFlag(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	err = probe("--gossip-addr", taken.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "--gossip-addr "+taken.Addr().String()+" is in use by another process") {
		t.Errorf("got %v", err)
	}
	if err := probe("--gossip-addr", "192.0.2.1:7946"); err == nil || !strings.Contains(err.Error(), "is no address of this machine") {
		t.Errorf("got %v", err)
	}
}
