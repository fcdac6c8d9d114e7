package raftstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/log"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// damage flips a bit in each occurrence of text in the file, and fails the test if there is none.
func damage(t *testing.T, path, text string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for at := 0; ; {
		i := bytes.Index(content[at:], []byte(text))
		if i < 0 {
			break
		}
		content[at+i] ^= 0x40
		at += i + 1
		found++
	}
	if found == 0 {
		t.Fatalf("%q is not in %s", text, path)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// aged returns a stopped node that has written 30 objects, with snapshots after the 10th and the
// 20th.
func aged(t *testing.T) *testcluster.Node {
	t.Helper()
	n := testcluster.New(t, 1, func(cfg *raftstore.Config) { cfg.HistoryBytes = 1 }).Leader()
	for i := 1; i <= 30; i++ {
		mustCreate(t, n.Store, fmt.Sprintf("o%02d", i), fmt.Sprintf("needle%02d", i))
		if i == 10 || i == 20 {
			if _, _, err := n.Store.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
	}
	n.Stop()
	return n
}

// logFile returns the only file of entries of a node's log.
func logFile(t *testing.T, n *testcluster.Node) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(n.Dir, "raft", "log", "*.segment"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return found[0]
}

func newestSnapshot(t *testing.T, n *testcluster.Node) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(n.Dir, "raft", "snapshots", "*", "state.bin"))
	if err != nil || len(found) != 2 {
		t.Fatal(found, err)
	}
	return slices.MaxFunc(found, func(a, b string) int {
		return bytes.Compare([]byte(filepath.Dir(a)), []byte(filepath.Dir(b)))
	})
}

func awaitObjects(t *testing.T, n *testcluster.Node, count int) {
	t.Helper()
	testcluster.Eventually(t, "the node leads", func() bool { return n.Store.Ready() == nil })
	if got := view(t, n.Store, raftstore.Quorum()).Len(); got != count {
		t.Errorf("%d objects, want %d", got, count)
	}
}

func TestDamage(t *testing.T) {
	t.Run("newest_snapshot_goes_back_to_the_older_one", func(t *testing.T) {
		n := aged(t)
		path := newestSnapshot(t, n)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, info.Size()/2); err != nil {
			t.Fatal(err)
		}
		n.Start()
		awaitObjects(t, n, 30)
	})
	t.Run("log_after_the_snapshot_is_an_error_to_act_on", func(t *testing.T) {
		n := aged(t)
		damage(t, logFile(t, n), "needle25")
		err := n.TryStart()
		var corrupt *log.Corrupt
		if !errors.As(err, &corrupt) || corrupt.Index == 0 {
			t.Errorf("started with %v", err)
		}
	})
	t.Run("log_that_is_gone_is_an_error_to_act_on", func(t *testing.T) {
		var n *testcluster.Node
		for what, lose := range map[string]func(path string) error{
			"removed":   func(string) error { return os.RemoveAll(filepath.Join(n.Dir, "raft", "log")) },
			"a file":    os.Remove,
			"emptied":   func(path string) error { return os.Truncate(path, 0) },
			"cut short": func(path string) error { return os.Truncate(path, 2000) },
		} {
			n = aged(t)
			if err := lose(logFile(t, n)); err != nil {
				t.Fatal(err)
			}
			err := n.TryStart()
			var corrupt *log.Corrupt
			if !errors.As(err, &corrupt) {
				t.Errorf("%s: started with %v", what, err)
			}
		}
	})
	t.Run("log_before_the_snapshot_costs_only_old_watches", func(t *testing.T) {
		n := aged(t)
		damage(t, logFile(t, n), "needle05")
		n.Start()
		awaitObjects(t, n, 30)
		cursor, err := n.Store.Watch(state.ResourcePrefix(resource), 0)
		if err != nil {
			t.Fatal(err)
		}
		var compacted *history.Compacted
		for err == nil {
			_, err = cursor.Next(within(t, 5*time.Second))
		}
		if !errors.As(err, &compacted) {
			t.Fatalf("watch over the damage: %v", err)
		}
		cursor, err = n.Store.Watch(state.ResourcePrefix(resource), compacted.Oldest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cursor.Next(within(t, 5*time.Second)); err != nil {
			t.Errorf("watch from after the damage: %v", err)
		}
	})
}
