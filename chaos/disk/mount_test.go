package disk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quorate/chaos/capability"
)

// mounts is how many file systems are mounted at a directory.
func mounts(t *testing.T, dir string) int {
	t.Helper()
	info, err := os.ReadFile("/proc/self/mountinfo")
	must(t, err)
	return strings.Count(string(info), " "+dir+" ")
}

func TestUnmountLeavesNothing(t *testing.T) {
	d := mounted(t)
	store(t, filepath.Join(d.Dir(), "f"), "content", false)
	if n := mounts(t, d.Dir()); n != 1 {
		t.Errorf("%d mounts", n)
	}
	must(t, d.Close())
	if n := mounts(t, d.Dir()); n != 0 {
		t.Errorf("%d mounts are left", n)
	}
	entries, err := os.ReadDir(d.Dir())
	if err != nil || len(entries) > 0 {
		t.Errorf("%v at the place of the mount (%v)", entries, err)
	}
	entries, err = os.ReadDir(d.files.backing)
	if err != nil || len(entries) != 1 || entries[0].Name() != treeName {
		t.Errorf("%v in the backing directory (%v)", entries, err)
	}
	wantContent(t, filepath.Join(d.files.treeDir(), "f"), "content")
}

// TestMountAfterServerWasKilled checks that Mount replaces the mount of a killed process and finds
// its files.
func TestMountAfterServerWasKilled(t *testing.T) {
	capability.Require(t, Available())
	root := t.TempDir()
	dir, backing := filepath.Join(root, "mnt"), filepath.Join(root, "backing")
	must(t, os.Mkdir(dir, 0o755))
	cmd, lines := start(t, "serve", dir, backing)
	if !lines.Scan() || lines.Text() != "<nil>" {
		t.Fatalf("the other process: %q", lines.Text())
	}
	kill(t, cmd)
	if _, err := os.Stat(dir); err == nil {
		t.Fatal("a mount works whose server is gone")
	}
	d := mountedAt(t, dir, backing)
	if n := mounts(t, dir); n != 1 {
		t.Errorf("%d mounts", n)
	}
	wantContent(t, filepath.Join(d.Dir(), "f"), "written")
	must(t, d.Crash())
	wantContent(t, filepath.Join(d.Dir(), "f"), "written") // what a mount finds counts as durable
}
