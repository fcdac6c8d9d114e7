package capability

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAble(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		uid     int
		devices []string
		want    bool
	}{
		"root with devices":           {0, []string{os.DevNull, "/dev/zero"}, true},
		"somebody else":               {1000, []string{os.DevNull}, false},
		"a device is missing":         {0, []string{os.DevNull, "/dev/no-such-device"}, false},
		"a file in place of a device": {0, []string{os.DevNull, file}, false},
	} {
		if got := able(c.uid, c.devices); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// outcome is a test that takes down how it was ended.
type outcome struct {
	testing.TB
	skipped, failed bool
}

func (o *outcome) Helper()               {}
func (o *outcome) Skip(...any)           { o.skipped = true }
func (o *outcome) Fatalf(string, ...any) { o.failed = true }

// TestNothingIsSkippedInSilence checks that Require fails a test for a missing capability on a
// machine that supports all faults, and skips it elsewhere.
func TestNothingIsSkippedInSilence(t *testing.T) {
	all := able(os.Geteuid(), devices)
	var lacking, lacksNothing outcome
	Require(&lacking, errors.New("no disks here"))
	Require(&lacksNothing, nil)
	if lacking.failed != all || lacking.skipped == all {
		t.Errorf("all can be had: %v; %+v", all, lacking)
	}
	if lacksNothing.failed || lacksNothing.skipped {
		t.Errorf("nothing is lacking: %+v", lacksNothing)
	}
}
