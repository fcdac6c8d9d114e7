//go:build docker

package chaos_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"quorate/chaos"
	"quorate/chaos/client"
	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
)

// containers starts the nodes of docker-compose.yml, which run until the test ends.
func containers(t *testing.T) (*nodes.Containers, client.Credentials) {
	t.Helper()
	command(t, "../deploy/compose", "up")
	t.Cleanup(func() { command(t, "../deploy/compose", "down") })
	credentials, err := client.ReadKubeconfig("../compose-data/admin.kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := nodes.NewContainers(t.Context(), "quorate-", []nodes.Node{
		{Name: "n1", API: "https://127.0.0.1:6443"},
		{Name: "n2", API: "https://127.0.0.1:6444"},
		{Name: "n3", API: "https://127.0.0.1:6445"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return fleet, credentials
}

// TestContainers runs all faults that are possible with Docker.
func TestContainers(t *testing.T) {
	fleet, credentials := containers(t)
	_, unavailable := nemesis.Possible(fleet)
	t.Logf("not to be had here: %v", unavailable)
	hurt(t, fleet, credentials, "kill-leader", "kill-all", "pause-leader", "isolate-leader", "cut-clients", "delete-data")
}

// containersLimit limits each wait for containers.
const containersLimit = 2 * time.Minute

// TestContainersStayCut checks that a cut persists over a restart of the container until it is
// healed.
func TestContainersStayCut(t *testing.T) {
	fleet, credentials := containers(t)
	network, able := nodes.As[nodes.Network](fleet)
	if !able {
		t.Skip("cutting links takes root, nsenter and iptables")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*containersLimit)
	defer cancel()
	one, err := client.New("https://127.0.0.1:6443", credentials)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	both := func(a, b string) map[nodes.Link]nodes.Rule {
		return map[nodes.Link]nodes.Rule{{From: a, To: b}: {Drop: true}, {From: b, To: a}: {Drop: true}}
	}
	isolated := both("n1", "n2")
	for link, rule := range both("n1", "n3") {
		isolated[link] = rule
	}
	steps := []struct {
		what string
		do   func() error
		then func() bool
	}{
		{"it is cut off", func() error { return network.Shape(ctx, isolated) }, func() bool { return !one.Ready(ctx) }},
		{"it was killed and started", func() error { return errors.Join(fleet.Kill(ctx, "n1"), fleet.Start(ctx, "n1")) }, func() bool {
			running, err := fleet.Running(ctx, "n1")
			return err == nil && running && !one.Ready(ctx)
		}},
		{"clients are let in, and nobody else", func() error { return nil }, func() bool {
			_, err := one.Members(ctx) // the node responds itself, as it has no leader
			return err == nil && !one.Ready(ctx)
		}},
		{"it is healed", func() error { return network.Shape(ctx, nil) }, func() bool { return one.Ready(ctx) }},
		{"clients are cut off", func() error { return network.Shape(ctx, both("n1", nodes.Clients)) }, func() bool { return !one.Ready(ctx) }},
		{"clients are let in", func() error { return network.Shape(ctx, nil) }, func() bool { return one.Ready(ctx) }},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		waiting, done := context.WithTimeout(ctx, containersLimit)
		if err := nodes.Await(waiting, step.then); err != nil {
			t.Errorf("%s: %v", step.what, err)
		}
		done()
	}
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	t.Logf("%s", out)
}

// hurt runs each fault once.
func hurt(t *testing.T, fleet nodes.Fleet, credentials client.Credentials, names ...string) {
	t.Helper()
	faults, err := nemesis.Named(names...)
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, chaos.Config{Fleet: fleet, Credentials: credentials, Phases: chaos.Alone(faults, 1, seed)})
}

// TestContainersKeepTheKey checks that docker inspect does not show the cluster key.
func TestContainersKeepTheKey(t *testing.T) {
	containers(t)
	key, err := os.ReadFile("../compose-data/cluster.key")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"quorate-n1", "quorate-n2", "quorate-n3"} {
		shown, err := exec.CommandContext(t.Context(), "docker", "inspect", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(shown), name) || strings.Contains(string(shown), strings.TrimSpace(string(key))) {
			t.Errorf("docker inspect %s shows the cluster key, or nothing", name)
		}
	}
}
