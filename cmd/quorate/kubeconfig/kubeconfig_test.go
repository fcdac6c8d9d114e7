package kubeconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quorate/cmd/quorate/kubeconfig"
)

func TestReadReturnsWhatEncodeWrote(t *testing.T) {
	t.Parallel()
	want := kubeconfig.Config{Server: "https://127.0.0.1:6443", CA: []byte("pem"), ServerName: "local", User: "admin", Token: "secret"}
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
