package clients_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const settings = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: {colour: green}
`

// TestKubectl follows the README's first session on three nodes, each command to another node.
func TestKubectl(t *testing.T) {
	c := startCluster(t, binaries.quorate, 3)

	t.Run("get names the built-in namespaces", func(t *testing.T) {
		wantContains(t, c.kubectl(t, 0, "", "get", "namespaces"), "default", "platform-system", "platform-public")
	})
	t.Run("what one node created another shows at once", func(t *testing.T) {
		wantContains(t, c.kubectl(t, 1, settings, "create", "-f", "-"), "configmap/settings created")
		wantContains(t, c.kubectl(t, 2, "", "get", "configmap", "settings", "-o", "yaml"), "colour: green", "resourceVersion:")
	})
	t.Run("replace takes the version that was read", func(t *testing.T) {
		stored := c.kubectl(t, 0, "", "get", "configmap", "settings", "-o", "yaml")
		changed := strings.Replace(stored, "colour: green", "colour: blue", 1)
		wantContains(t, c.kubectl(t, 1, changed, "replace", "-f", "-"), "configmap/settings replaced")
		out, err := c.try(t, 2, changed, "replace", "-f", "-")
		if err == nil {
			t.Error("a replace with a stale version went through")
		}
		wantContains(t, out, "the object has been modified")
	})
	t.Run("a misspelt field is refused with its name", func(t *testing.T) {
		out, err := c.try(t, 0, strings.Replace(settings, "\ndata:", "\ndta:", 1), "create", "-f", "-")
		if err == nil {
			t.Error("a misspelt field went through")
		}
		wantContains(t, out, `unknown field "dta"`)
	})
	t.Run("watch shows changes made through other nodes", func(t *testing.T) { watch(t, c) })
	t.Run("delete waits until the object is gone", func(t *testing.T) {
		wantContains(t, c.kubectl(t, 1, "", "delete", "configmap", "settings"), `configmap "settings" deleted`)
		out, err := c.try(t, 2, "", "get", "configmap", "settings")
		if err == nil {
			t.Error("the deleted object is still there")
		}
		wantContains(t, out, `configmaps "settings" not found`)
	})
	t.Run("a namespace goes with its content", func(t *testing.T) {
		namespace := "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n"
		c.kubectl(t, 0, namespace, "create", "-f", "-")
		c.kubectl(t, 1, strings.Replace(settings, "namespace: default", "namespace: team", 1), "create", "-f", "-")
		c.kubectl(t, 2, "", "delete", "namespace", "team")
		if out, err := c.try(t, 0, "", "get", "configmap", "settings", "-n", "team"); err == nil {
			t.Errorf("content outlived its namespace:\n%s", out)
		}
	})
	t.Run("every kind", func(t *testing.T) { everyKind(t, c) })
	t.Run("the legacy paths, which kubectl reaches only by hand", func(t *testing.T) { legacyPaths(t, c) })
}

// legacyPaths uses the two kinds under /oapi/v1; what the legacy form of a binding stores, the other form shows.
func legacyPaths(t *testing.T, c *cluster) {
	subnet := `{"kind":"HostSubnet","apiVersion":"v1","metadata":{"name":"node1"},"host":"node1","hostIP":"10.0.0.1","subnet":"10.128.0.0/23"}`
	c.kubectl(t, 0, subnet, "create", "--raw", "/oapi/v1/hostsubnets", "-f", "-")
	wantContains(t, c.kubectl(t, 1, "", "get", "--raw", "/oapi/v1/hostsubnets"), `"kind":"HostSubnetList"`, `"subnet":"10.128.0.0/23"`)
	binding := `{"kind":"ClusterRoleBinding","apiVersion":"v1","metadata":{"name":"readers"},"roleRef":{"name":"view"},"userNames":["jane"]}`
	c.kubectl(t, 2, binding, "create", "--raw", "/oapi/v1/clusterrolebindings", "-f", "-")
	wantContains(t, c.kubectl(t, 0, "", "get", "clusterrolebindings.rbac.authorization.platform.io", "readers", "-o", "yaml"),
		"kind: User", "name: jane", "name: view")
}

// watch runs kubectl get -w on one node while others write.
func watch(t *testing.T, c *cluster) {
	cmd := c.command(t.Context(), 2, "get", "configmaps", "-w", "-o", "name")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it watches until it is ended
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(stdout)
	next := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("the watch printed %q, want %q (%v)", lines.Text(), want, lines.Err())
		}
	}
	next("configmap/settings") // the list before the watch
	for _, name := range []string{"one", "two", "three"} {
		c.kubectl(t, 0, strings.Replace(settings, "name: settings", "name: "+name, 1), "create", "-f", "-")
		next("configmap/" + name)
	}
	c.kubectl(t, 1, "", "delete", "configmap", "two")
	next("configmap/two")
}

// everyKind creates, reads and deletes one object of each kind that discovery shows to kubectl.
func everyKind(t *testing.T, c *cluster) {
	manifests, err := filepath.Glob("testdata/kinds/*.yaml")
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	resources := c.kubectl(t, 0, "", "api-resources", "-o", "name")
	for _, manifest := range manifests {
		resource := strings.TrimSuffix(filepath.Base(manifest), ".yaml")
		t.Run(resource, func(t *testing.T) {
			wantContains(t, resources, resource)
			text, err := os.ReadFile(manifest)
			if err != nil {
				t.Fatal(err)
			}
			wantContains(t, c.kubectl(t, 1, string(text), "create", "-f", "-"), "created")
			wantContains(t, c.kubectl(t, 2, "", "get", resource, "-A"), "sample")
			wantContains(t, c.kubectl(t, 0, string(text), "delete", "-f", "-"), "deleted")
		})
	}
}
