package chaos

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
	"quorate/chaos/workload"
)

// followInterval is how often it's looked which nodes there are.
const followInterval = 100 * time.Millisecond

// targets are the nodes of a fleet for the clients, also while nodes join and leave.
type targets struct {
	*workload.Targets
	fleet       nodes.Fleet
	credentials client.Credentials
	log         *slog.Logger
	known       map[string]*client.Client // by address; used by one goroutine at a time
	stop        chan struct{}
	done        sync.WaitGroup
}

// follow begins with the nodes that the fleet has now. close ends it.
func follow(fleet nodes.Fleet, credentials client.Credentials, log *slog.Logger) *targets {
	t := &targets{
		Targets: workload.NewTargets(), fleet: fleet, credentials: credentials, log: log, known: map[string]*client.Client{},
		stop: make(chan struct{}),
	}
	t.update()
	t.done.Go(func() {
		tick := time.NewTicker(followInterval)
		defer tick.Stop()
		for {
			select {
			case <-t.stop:
				return
			case <-tick.C:
				t.update()
			}
		}
	})
	return t
}

func (t *targets) update() {
	there := map[string]bool{}
	now := t.All()
	for _, node := range t.fleet.Nodes() {
		there[node.Name] = true
		one := t.known[node.API]
		if one == nil {
			var err error
			if one, err = client.New(node.API, t.credentials); err != nil {
				t.log.Error("a node gets no clients", "node", node.Name, "error", err)
				continue
			}
			t.known[node.API] = one
		}
		// Addresses of nodes that have left are given again.
		if target := (workload.Target{Name: node.Name, Client: one}); !slices.Contains(now, target) {
			t.Add(target)
		}
	}
	for _, target := range t.All() {
		if !there[target.Name] {
			t.Remove(target.Name)
		}
	}
}

// close ends all connections. No client may be at work.
func (t *targets) close() {
	close(t.stop)
	t.done.Wait()
	for _, one := range t.known {
		one.Close()
	}
}
