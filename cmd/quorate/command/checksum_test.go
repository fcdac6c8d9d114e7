package command

import (
	"strings"
	"testing"

	"quorate/apiserver/admin"
)

// The advice to empty a data directory must not cover every node.
func TestChecksumsWithoutMajority(t *testing.T) {
	t.Parallel()
	a, b, c := admin.Checksum{Name: "a", Checksum: "1"}, admin.Checksum{Name: "b", Checksum: "2"}, admin.Checksum{Name: "c", Checksum: "1"}
	away := admin.Checksum{Name: "c", Problem: "no answer"}
	for want, sums := range map[string]admin.Checksums{
		"empty no data directory":      {Nodes: []admin.Checksum{a, b, away}, Diverged: []string{"a", "b"}},
		"with an empty data directory": {Nodes: []admin.Checksum{a, b, c}, Diverged: []string{"b"}},
	} {
		if err := checkChecksums(sums); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := checkChecksums(admin.Checksums{Nodes: []admin.Checksum{a, away}}); err == nil || !strings.Contains(err.Error(), "the state of c is unknown") {
		t.Errorf("without the state of c: %v", err)
	}
	if err := checkChecksums(admin.Checksums{Nodes: []admin.Checksum{a, c}}); err != nil {
		t.Error(err)
	}
}
