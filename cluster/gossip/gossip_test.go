package gossip_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"quorate/cluster/gossip"
	"quorate/cluster/roster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run starts a node on a loopback address of its own, and returns it and its end.
func run(t *testing.T, host, name string, start uint64, join ...string) (g *gossip.Gossip, stop func()) {
	t.Helper()
	names, err := roster.Open(t.TempDir(), name, "id-"+name)
	if err != nil {
		t.Fatal(err)
	}
	g, err = gossip.New(gossip.Config{
		Self: gossip.Meta{Name: name, NodeID: "id-" + name, Start: start, Nonce: "x", PeerAddr: host + ":1"},
		Addr: host + ":7947", Join: join, Key: bytes.Repeat([]byte{7}, 32), Scale: 0.2, Roster: names,
		Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	over := false
	stop = func() {
		if !over {
			over = true
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return g, stop
}

// await waits until a node sees exactly one other, in this state.
func await(t *testing.T, g *gossip.Gossip, alive bool, start uint64) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		changed := g.Changed()
		if all := g.Members(); len(all) == 1 && all[0].Alive == alive && all[0].Start == start {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("members are %+v, want one with start %d, alive %v", g.Members(), start, alive)
		}
	}
}

func TestGossip(t *testing.T) {
	host := func(n int) string { return fmt.Sprintf("127.%d.%d.%d", 210+os.Getpid()%40, 1+os.Getpid()/40%250, n) }
	t.Run("a node that was lost is found again at its last address, by one that was told of no address", func(t *testing.T) {
		a, _ := run(t, host(1), "a", 1)
		_, stop := run(t, host(2), "b", 1, host(1)+":7947")
		await(t, a, true, 1)
		stop()
		await(t, a, false, 1)
		run(t, host(2), "b", 2) // it knows nobody either
		await(t, a, true, 2)
	})
	t.Run("what a node says of itself reaches the others when it changes", func(t *testing.T) {
		a, _ := run(t, host(3), "a", 1)
		b, _ := run(t, host(4), "b", 1, host(3)+":7947")
		await(t, a, true, 1)
		if err := b.Announce(t.Context(), func(m *gossip.Meta) { m.Leaving = true }); err != nil {
			t.Fatal(err)
		}
		deadline := time.After(time.Minute)
		for {
			changed := a.Changed()
			if all := a.Members(); len(all) == 1 && all[0].Leaving {
				return
			}
			select {
			case <-changed:
			case <-deadline:
				t.Fatalf("members are %+v", a.Members())
			}
		}
	})
}
