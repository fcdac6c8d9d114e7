package kubeconfig_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quorate/cmd/quorate/kubeconfig"
)

func TestReadReturnsWhatEncodeWrote(t *testing.T) {
	t.Parallel()
	want := kubeconfig.Config{Server: "https://127.0.0.1:6443", CA: []byte("pem"), ServerName: "local", User: "admin", Token: "secret",
		Others: []kubeconfig.Node{{Name: "n2", Server: "https://10.0.0.2:6443", ServerName: "n2.local"}, {Name: "n3", Server: "https://10.0.0.3:6443"}}}
	content, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := kubeconfig.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	got, err = kubeconfig.Load([]string{path}, "admin@quorate-n3")
	if err != nil {
		t.Fatal(err)
	}
	if servers := serversOf(got); servers != "https://10.0.0.3:6443 https://127.0.0.1:6443 https://10.0.0.2:6443" {
		t.Errorf("the context of n3 has the servers %s", servers)
	}
}

// serversOf returns the servers of a configuration, in the order in which they are tried.
func serversOf(c kubeconfig.Config) string {
	servers := []string{c.Server}
	for _, n := range c.Others {
		servers = append(servers, n.Server)
	}
	return strings.Join(servers, " ")
}

// write writes a kubeconfig whose contexts are CONTEXT=CLUSTER:USER, with the server https://CLUSTER
// of an authority, and returns its path.
func write(t *testing.T, authority, current string, contexts ...string) string {
	t.Helper()
	var clusters, users, all strings.Builder
	for _, c := range contexts {
		name, rest, _ := strings.Cut(c, "=")
		cluster, user, _ := strings.Cut(rest, ":")
		fmt.Fprintf(&all, "- {name: %s, context: {cluster: %s, user: %s}}\n", name, cluster, user)
		fmt.Fprintf(&clusters, "- {name: %s, cluster: {server: 'https://%[1]s', certificate-authority-data: %s}}\n",
			cluster, base64.StdEncoding.EncodeToString([]byte(authority)))
		fmt.Fprintf(&users, "- {name: %s, user: {token: %[1]s-of-%s}}\n", user, authority)
	}
	path := filepath.Join(t.TempDir(), "config")
	content := fmt.Sprintf("current-context: %s\nclusters:\n%susers:\n%scontexts:\n%s", current, &clusters, &users, &all)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadMergesFilesAsKubectlDoes(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	first := write(t, "one", `""`, "a=c1:jane", "b=c2:jane")
	second := write(t, "two", "d", "a=c9:nobody", "d=c3:jane", "e=c4:joe")
	both := []string{missing, first, second}
	for name, c := range map[string]struct {
		paths                []string
		context              string
		servers, token, fail string
	}{
		"the first current context wins":      {both, "", "https://c3", "jane-of-one", ""},
		"the first entry of a name wins":      {both, "a", "https://c1 https://c2", "jane-of-one", ""},
		"a context that is named":             {both, "e", "https://c4", "joe-of-two", ""},
		"nodes of another file are no others": {[]string{first, first}, "b", "https://c2 https://c1", "jane-of-one", ""},
		"no such context":                     {both, "x", "", "", `no context "x"`},
		"no current context":                  {[]string{first}, "", "", "", "give --context"},
		"no file":                             {[]string{missing, missing}, "", "", "", "no such file"},
	} {
		got, err := kubeconfig.Load(c.paths, c.context)
		if c.fail != "" {
			if err == nil || !strings.Contains(err.Error(), c.fail) {
				t.Errorf("%s: got %v, want %q", name, err, c.fail)
			}
			continue
		}
		if err != nil || serversOf(got) != c.servers || got.Token != c.token {
			t.Errorf("%s: got %s with the token %s, %v; want %s, %s", name, serversOf(got), got.Token, err, c.servers, c.token)
		}
	}
}

// TestPathsAreRelativeToTheirFile: kubectl resolves them so, and admits each in place of data.
func TestPathsAreRelativeToTheirFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"ca.crt": "authority", "jane.crt": "certificate", "jane.key": "key", "token": "secret\n",
		"config": "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n" +
			"clusters: [{name: c, cluster: {server: 'https://c', certificate-authority: ca.crt}}]\n" +
			"users: [{name: u, user: {tokenFile: token, client-certificate: jane.crt, client-key: " + dir + "/jane.key}}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := kubeconfig.Read(filepath.Join(dir, "config"))
	if err != nil {
		t.Fatal(err)
	}
	want := kubeconfig.Config{
		Server: "https://c", CA: []byte("authority"), User: "u", Token: "secret",
		ClientCertificate: []byte("certificate"), ClientKey: []byte("key"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ content, want string }{
		"not YAML":          {"[", "is no kubeconfig"},
		"no such context":   {"current-context: x", `no context "x"`},
		"no such cluster":   {"current-context: x\ncontexts: [{name: x, context: {cluster: c}}]", `no cluster "c"`},
		"no such user":      {"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c}]", `no user "u"`},
		"an exec plugin":    {"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c}]\nusers: [{name: u, user: {exec: {command: login}}}]", "use one with a token"},
		"malformed CA data": {"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {certificate-authority-data: '!'}}]\nusers: [{name: u}]", "not base64"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := kubeconfig.Read(path); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
