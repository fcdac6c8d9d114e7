package boltlog

import (
	"os"
	"strings"
	"testing"
)

func TestCheckedBoltMatchesGoMod(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if line := "go.etcd.io/bbolt " + checkedBolt + "\n"; !strings.Contains(string(text), line) {
		t.Errorf("go.mod does not require %swhose pages check.go reads", line)
	}
}
