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

// followInterval is the interval at which the nodes of the fleet are polled.
const followInterval = 100 * time.Millisecond

// targets holds the clients for the nodes of a fleet, while nodes join and leave.
type targets struct {
	*workload.Targets
	fleet       nodes.Fleet
	credentials client.Credentials
	log         *slog.Logger
	known       map[string]*client.Client // by address; only one goroutine uses it at a time
	stop        chan struct{}
	done        sync.WaitGroup
}

// follow begins with the current nodes of the fleet. The caller must call close.
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
		// The addresses of nodes that have left are reused.
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

// close closes all connections. No client may be in use.
func (t *targets) close() {
	close(t.stop)
	t.done.Wait()
	for _, one := range t.known {
		one.Close()
	}
}
