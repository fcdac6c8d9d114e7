package command_test

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quorate/cluster/roster"
	"quorate/progress"
	"quorate/raftstore/offline"
)

// If a recovery is interrupted after it has created the new cluster and before it bars the old
// members, the next start bars them. If it is interrupted before, no member is barred.
func TestInterruptedRecovery(t *testing.T) {
	t.Parallel()
	const gone = "0198c0de-0000-7000-8000-000000000002" // node id of n2
	for name, done := range map[string]bool{"after_the_new_cluster": true, "before_it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "d")
			n := start(t, dir)
			if _, stderr, err := n.quorate("healthcheck", "--wait", "60s"); err != nil {
				t.Fatal(stderr)
			}
			n.stop()
			id, err := os.ReadFile(filepath.Join(dir, "node-id"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := roster.Open(dir, "n1", strings.TrimSpace(string(id)))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Bind("n2", roster.Binding{NodeID: gone, Index: 1}); err != nil {
				t.Fatal(err)
			}

			s, err := offline.Survey(dir, "n1", progress.New(io.Discard, "", 0, progress.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.BarAllOnce(s.NewID); err != nil {
				t.Fatal(err)
			}
			if done {
				if _, _, err := s.Recover(1 << 20); err != nil {
					t.Fatal(err)
				}
			}

			again := start(t, dir)
			if _, stderr, err := again.quorate("healthcheck", "--wait", "60s"); err != nil {
				t.Fatal(stderr)
			}
			again.stop()
			text, err := os.ReadFile(filepath.Join(dir, "members.json"))
			if err != nil {
				t.Fatal(err)
			}
			if barred := regexp.MustCompile(`"removed": \[\s*"` + gone).Match(text); barred != done || strings.Contains(string(text), "barring") {
				t.Errorf("the old member is barred: %t, want %t\n%s", barred, done, text)
			}
		})
	}
}
