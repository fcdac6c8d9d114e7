package disk_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quorate/chaos/disk"
)

// leastDamaged is how often files are damaged in each way, and mostDamaged how often until a node
// refuses them.
const leastDamaged, mostDamaged = 2, 20

// findsDamage: a node whose files were damaged refuses to start, with one line for its operator, or
// has all that it acknowledged.
func findsDamage(t *testing.T, binary string) {
	s := newServer(t, binary)
	s.begin(t)
	l := newLedger()
	s.writeAndKill(t, l, 0, 50, func() { s.snapshot(t) })
	good := filepath.Join(t.TempDir(), "good")
	files := filepath.Join(s.DataDir(node), "raft")
	must(t, os.CopyFS(good, os.DirFS(files)))

	for _, c := range []struct {
		name    string
		do      func(*rand.Rand, string) (string, error)
		refused bool // at least once, and then with the name of the file
	}{
		{"FlipLog", disk.FlipLog, true},
		{"TruncateLog", disk.TruncateLog, true},
		{"TearLog", disk.TearLog, true},
		{"FlipSnapshot", disk.FlipSnapshot, false}, // the log has what it had
	} {
		t.Run(c.name, func(t *testing.T) {
			refused := 0
			// What a snapshot covers isn't read at a start: some damage is found only when it is.
			for seed := uint64(0); seed < leastDamaged || c.refused && refused == 0 && seed < mostDamaged; seed++ {
				_, err := disk.Empty(files)
				must(t, err)
				must(t, os.CopyFS(files, os.DirFS(good)))
				what, err := c.do(rand.New(rand.NewPCG(seed, 1)), s.DataDir(node))
				must(t, err)
				outcome := s.tryDamaged(t, l)
				t.Logf("%s: %s", what, outcome)
				if outcome != "ready" {
					refused++
					if !strings.Contains(outcome, "raft/log/") {
						t.Errorf("it ended for another reason")
					}
				}
			}
			if c.refused != (refused > 0) {
				t.Errorf("refused %d times", refused)
			}
		})
	}
}

// tryDamaged starts the node on its damaged files, and returns "ready" when it has all that is in
// the ledger, or the line with which it ended.
func (s *server) tryDamaged(t *testing.T, l *ledger) string {
	t.Helper()
	must(t, os.Truncate(s.LogFile(node), 0))
	must(t, s.Start(t.Context(), node))
	defer s.kill(t)
	ended, ready := false, false
	await(t, "the node is ready, or has ended", func() bool {
		select {
		case <-s.Exited(node):
			ended = true
		default:
			ready = s.client.Ready(t.Context())
		}
		return ended || ready
	})
	if ready {
		s.verify(t, l)
		return "ready"
	}
	said, err := os.ReadFile(s.LogFile(node))
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "quorate: ") || strings.Contains(string(said), "panic") {
		t.Fatalf("a node with damaged files broke down:\n%s", said)
	}
	return last
}
