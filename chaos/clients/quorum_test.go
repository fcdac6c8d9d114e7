package clients_test

import (
	"strings"
	"testing"
	"time"

	"quorate/chaos/nodes"
)

// refusalLimit bounds how long kubectl may take to report that the cluster has no quorum. The
// server responds in milliseconds; the rest is the start of kubectl on a busy machine.
const refusalLimit = 3 * time.Second

// Without a quorum kubectl reports which voters are missing, at once and for reads and writes,
// instead of repeating requests silently. It works again when one of the voters is back.
func TestKubectlWithoutQuorum(t *testing.T) {
	t.Parallel()
	c := startCluster(t, binaries.quorate, 3)
	c.kubectl(t, "", "create", "configmap", "before")
	for _, name := range []string{"n2", "n3"} {
		if err := c.Kill(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	const reason = "2 of 3 voters do not respond: n2, n3"
	refused := func(out string, err error) bool {
		return err != nil && strings.Contains(out, reason)
	}
	if err := nodes.Await(t.Context(), func() bool { return refused(c.try(t, "", "get", "configmap", "before")) }); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"get", "configmap", "before"}, {"get", "pods"}, {"create", "configmap", "new"}, {"delete", "configmap", "before"},
		{"label", "configmap", "before", "a=b"},
	} {
		start := time.Now()
		out, err := c.try(t, "", args...)
		took := time.Since(start)
		t.Logf("kubectl %s (%s): %s", strings.Join(args, " "), took.Truncate(time.Millisecond), out)
		if !refused(out, err) || took > refusalLimit {
			t.Errorf("kubectl %s was not refused at once", strings.Join(args, " "))
		}
	}
	if out := c.kubectl(t, "", "get", "--raw", "/api/v1/namespaces/default/configmaps/before?resourceVersion=0"); !strings.Contains(out, "before") {
		t.Errorf("a cached read has %s", out)
	}
	if out, err := c.try(t, "", "get", "--raw", "/readyz?verbose"); err == nil || !strings.Contains(out, reason) {
		t.Errorf("readyz?verbose: %v %s", err, out)
	}
	if err := c.Start(t.Context(), "n2"); err != nil {
		t.Fatal(err)
	}
	if err := nodes.Await(t.Context(), func() bool {
		_, err := c.try(t, "", "get", "configmap", "before")
		return err == nil
	}); err != nil {
		t.Fatalf("the cluster does not recover: %v", err)
	}
	c.kubectl(t, "", "create", "configmap", "after")
}
