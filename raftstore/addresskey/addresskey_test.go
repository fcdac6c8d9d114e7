package addresskey_test

import (
	"net/netip"
	"testing"

	"quorate/raftstore/addresskey"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"192.0.2.7:4711":           "192.0.2.7",
		"192.0.2.7":                "192.0.2.7",
		"[::ffff:192.0.2.7]:4711":  "192.0.2.7",
		"[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::/64",
		"[2001:db8:1:2:9::1]:1":    "2001:db8:1:2::/64",
		"[fe80::1%eth0]:1":         "fe80::/64",
		"pipe":                     "pipe",
		"":                         "",
	} {
		if got := addresskey.Of(remote); got != want {
			t.Errorf("%q: got %q, want %q", remote, got, want)
		}
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	for addr, want := range map[netip.Addr]netip.Prefix{
		netip.MustParseAddr("192.0.2.7"):           netip.MustParsePrefix("192.0.2.7/32"),
		netip.MustParseAddr("2001:db8:1:2:3::4"):   netip.MustParsePrefix("2001:db8:1:2::/64"),
		netip.MustParseAddr("2001:db8:1:2:ffff::"): netip.MustParsePrefix("2001:db8:1:2::/64"),
		{}: {},
	} {
		if got := addresskey.Network(addr); got != want {
			t.Errorf("%v: got %v, want %v", addr, got, want)
		}
	}
}
