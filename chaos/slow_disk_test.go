package chaos_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"quorate/chaos/capability"
	"quorate/chaos/client"
	"quorate/chaos/disk"
	"quorate/chaos/nodes"
)

// slowFsync makes a disk slow, but not so slow that it counts as hanging.
const slowFsync = 50 * time.Millisecond

// TestSlowLeaderHandsOver slows the leader's disk and expects another node to lead.
func TestSlowLeaderHandsOver(t *testing.T) {
	if testing.Short() {
		t.Skip("starts several servers")
	}
	capability.Require(t, disk.Available())
	t.Parallel() // it mostly waits
	ctx, cancel := context.WithTimeout(t.Context(), recoveryLimit)
	defer cancel()
	fleet := newFleet(t, nodes.ProcessesConfig{Binary: buildServer(t), Count: 3, Disks: true, Flags: []string{"--request-log", "none"}})
	credentials, err := fleet.StartAll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	clients := map[string]*client.Client{}
	for _, node := range fleet.Nodes() {
		if clients[node.Name], err = client.New(node.API, credentials); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(clients[node.Name].Close)
	}
	stop := keepCreating(ctx, clients)
	defer stop()
	leads := func(name string) bool {
		members, err := clients[name].Members(ctx)
		return err == nil && slices.ContainsFunc(members, func(m client.Member) bool { return m.Name == name && m.Role == "leader" })
	}
	leader := ""
	await(ctx, t, "a leader", func() bool {
		for name := range clients {
			if leads(name) {
				leader = name
			}
		}
		return leader != ""
	})
	fleet.Disk(leader).Set(disk.Faults{FsyncDelay: slowFsync})
	slow := leader
	await(ctx, t, "another leader than "+slow, func() bool {
		for name := range clients {
			if name != slow && leads(name) {
				leader = name
			}
		}
		return leader != slow
	})
	if ended := fleet.Endings(); len(ended) > 0 {
		t.Errorf("nodes ended: %v", ended)
	}
}

// keepCreating creates objects through each node until the function that it returns is called.
// Writes may fail while leadership changes.
func keepCreating(ctx context.Context, clients map[string]*client.Client) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	for name, one := range clients {
		group.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				_, _, _ = one.Create(ctx, "default", fmt.Sprintf("%s-%d", name, i), nil)
			}
		})
	}
	return func() { cancel(); group.Wait() }
}

func await(ctx context.Context, t *testing.T, what string, condition func() bool) {
	t.Helper()
	if err := nodes.Await(ctx, condition); err != nil {
		t.Fatalf("wait for %s: %v", what, err)
	}
}
