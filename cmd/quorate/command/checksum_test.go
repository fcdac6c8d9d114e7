package command

import (
	"strings"
	"testing"

	"quorate/apiserver/admin"
)

// TestChecksumsOfWhichNoneIsThatOfMost: no operator is told to empty every node.
func TestChecksumsOfWhichNoneIsThatOfMost(t *testing.T) {
	t.Parallel()
	a, b, c := admin.Checksum{Name: "a", Checksum: "1"}, admin.Checksum{Name: "b", Checksum: "2"}, admin.Checksum{Name: "c", Checksum: "1"}
	away := admin.Checksum{Name: "c", Problem: "no answer"}
	for want, sums := range map[string]admin.Checksums{
		"empty no data directory":      {Nodes: []admin.Checksum{a, b, away}, Diverged: []string{"a", "b"}},
		"with an empty data directory": {Nodes: []admin.Checksum{a, b, c}, Diverged: []string{"b"}},
	} {
		if err := judgeChecksums(sums); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := judgeChecksums(admin.Checksums{Nodes: []admin.Checksum{a, c}}); err != nil {
		t.Error(err)
	}
}
