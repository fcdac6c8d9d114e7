package network

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lossy is a link to a file, which takes what is delivered.
func lossy(t *testing.T, seed uint64, rule Rule) (l *link, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "delivered")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	l = &link{to: file, later: newClock(), random: rand.New(rand.NewPCG(seed, 1))}
	l.shape(rule)
	return l, path
}

func TestSeedDecidesWhatIsLost(t *testing.T) {
	delivered := func(seed uint64) []byte {
		l, path := lossy(t, seed, Rule{Loss: 0.5, Duplicate: 0.2})
		for i := range 200 {
			l.carry([]byte{byte(i)})
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first, again, other := delivered(1), delivered(1), delivered(2)
	if !bytes.Equal(first, again) {
		t.Errorf("the same seed let through %v and %v", first, again)
	}
	if bytes.Equal(first, other) {
		t.Errorf("two seeds let through the same: %v", first)
	}
	if len(first) < 60 || len(first) > 180 {
		t.Errorf("%d packets of 200, half of them lost and a fifth of the rest doubled", len(first))
	}
}

func TestGoodLinkAllocatesNothing(t *testing.T) {
	l, _ := lossy(t, 1, Rule{})
	packet := make([]byte, mtu)
	if got := testing.AllocsPerRun(100, func() { l.carry(packet) }); got != 0 {
		t.Errorf("%v allocations for a packet", got)
	}
}

func TestQueueIsBounded(t *testing.T) {
	l, _ := lossy(t, 1, Rule{Delay: 1 << 40})
	packet := make([]byte, mtu)
	const fit = queueBytes / mtu
	for range fit + 5 {
		l.carry(packet)
	}
	if got := l.counters().Overflowed; got != 5 || l.waiting.Load() != fit {
		t.Errorf("%d overflowed and %d wait, want 5 and %d", got, l.waiting.Load(), fit)
	}
	l.shape(Rule{Drop: true})
	if got := l.counters().Dropped; got != fit || l.waiting.Load() != 0 {
		t.Errorf("%d dropped and %d wait once the link is cut, want %d and none", got, l.waiting.Load(), fit)
	}
}

func TestParseRoutes(t *testing.T) {
	const heading = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
	for name, test := range map[string]struct {
		table string
		want  []string
		fails bool
	}{
		"none":    {table: heading},
		"default": {table: heading + "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"},
		"two": {
			table: heading + "docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\neth0\t000200C0\t0\t1\t0\t0\t0\t00FFFFFF\t0\t0\t0\n",
			want:  []string{"172.17.0.0/16", "192.0.2.0/24"},
		},
		"short":      {table: heading + "eth0\t00000000\n", fails: true},
		"no address": {table: heading + "eth0\tX\t0\t1\t0\t0\t0\t0\n", fails: true},
		"no mask":    {table: heading + "eth0\t000200C0\t0\t1\t0\t0\t0\tX\n", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			routes, err := parseRoutes(strings.NewReader(test.table))
			var got []string
			for _, r := range routes {
				got = append(got, r.String())
			}
			if (err != nil) != test.fails || !slices.Equal(got, test.want) {
				t.Errorf("%v %v, want %v", got, err, test.want)
			}
		})
	}
}

func FuzzDestination(f *testing.F) {
	f.Add(make([]byte, headerBytes))
	f.Add(append(make([]byte, headerBytes), 0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2))
	f.Fuzz(func(t *testing.T, packet []byte) {
		to, ok := destination(packet)
		if ok != to.IsValid() || ok && !bytes.Contains(packet, to.AsSlice()) {
			t.Errorf("%s, %v", to, ok)
		}
	})
}

func TestOverlap(t *testing.T) {
	taken := []netip.Prefix{netip.MustParsePrefix("198.18.4.0/22"), netip.MustParsePrefix("fd00::/8")}
	for subnet, want := range map[string]bool{"198.18.5.0/24": true, "198.18.8.0/24": false} {
		if got := overlapsAny(netip.MustParsePrefix(subnet), taken); got != want {
			t.Errorf("%s: %v", subnet, got)
		}
	}
}
