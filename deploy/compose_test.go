package deploy_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// docker answers as a Docker client would: ENGINE is empty if no daemon answers, VOLUMES and
// CONTAINERS are what the cluster has.
const docker = `#!/bin/sh
[ -n "$ENGINE" ] || { echo "Cannot connect to the Docker daemon" >&2; exit 1; }
case "$1" in
  volume) echo "$VOLUMES" ;;
  ps) echo "$CONTAINERS" ;;
esac
`

// TestComposeCheck checks that deploy/compose reports each obstacle to a start in one line.
func TestComposeCheck(t *testing.T) {
	script, err := os.ReadFile("compose")
	if err != nil {
		t.Fatal(err)
	}
	// The ports of the cluster are taken or free as the machine has it: here they are those of a
	// listener, and of one that was closed.
	taken, free := listen(t), listen(t)
	free.Close()

	for _, tc := range []struct {
		name, engine, volumes, containers string
		port                              net.Listener
		key                               bool
		want                              string // part of the message; empty if the check passes
	}{
		{name: "all is well", engine: "yes", port: free},
		{name: "no daemon", port: free, want: "no Docker daemon answers: start it"},
		{name: "a port is in use", engine: "yes", port: taken, want: "is in use (by 'make run'?): stop what listens there"},
		{name: "the cluster itself has the port", engine: "yes", port: taken, containers: "5f1b", key: true},
		{name: "the key of the volumes is lost", engine: "yes", port: free, volumes: "volume-of-n1",
			want: "compose-data/cluster.key: put the key back, or delete the volumes by 'make down'"},
		{name: "volumes and their key", engine: "yes", port: free, volumes: "volume-of-n1", key: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			_, port, _ := net.SplitHostPort(tc.port.Addr().String())
			write(t, filepath.Join(root, "bin", "docker"), docker)
			write(t, filepath.Join(root, "deploy", "compose"), strings.Replace(string(script), "ports=(6443 6444 6445)", "ports=("+port+")", 1))
			if tc.key {
				write(t, filepath.Join(root, "compose-data", "cluster.key"), "key")
			}
			cmd := exec.Command(filepath.Join(root, "deploy", "compose"), "check")
			cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"),
				"ENGINE="+tc.engine, "VOLUMES="+tc.volumes, "CONTAINERS="+tc.containers)
			out, err := cmd.CombinedOutput()
			switch {
			case tc.want == "" && (err != nil || len(out) > 0):
				t.Errorf("%v, %q", err, out)
			case tc.want != "" && (err == nil || !strings.Contains(string(out), tc.want) || strings.Count(string(out), "\n") != 1):
				t.Errorf("%v, %q, want one line with %q", err, out, tc.want)
			}
		})
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// write writes a file, in a folder that need not exist, and returns its path.
func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
