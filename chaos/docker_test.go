//go:build docker

package chaos_test

import (
	"os/exec"
	"strings"
	"testing"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

// TestContainers runs the same faults against the shipped docker-compose.yml: containers killed with docker kill.
func TestContainers(t *testing.T) {
	command(t, "../deploy/compose", "up")
	t.Cleanup(func() { command(t, "../deploy/compose", "down") })
	credentials, err := client.ReadKubeconfig("../compose-data/admin.kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	fleet := nodes.NewCommands([]nodes.Node{
		{Name: "n1", API: "https://127.0.0.1:6443"},
		{Name: "n2", API: "https://127.0.0.1:6444"},
		{Name: "n3", API: "https://127.0.0.1:6445"},
	}, "docker kill quorate-{name}", "docker start quorate-{name}")
	hurt(t, fleet, credentials)
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	t.Logf("%s", out)
}
