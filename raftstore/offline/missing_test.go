package offline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/offline"
	"quorate/raftstore/state"
)

// A gap between the newest undamaged snapshot and the log is damage, and the problem names the
// missing entries, even a single one.
func TestInspect_reports_missing_entries(t *testing.T) {
	t.Parallel()
	for first, want := range map[uint64]string{1: "", 2: "entries 1 to 1 are missing", 5: "entries 1 to 4 are missing"} {
		dir := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(dir, raftstore.RaftDir), 0o700))
		l := openLog(t, dir)
		data, err := raftstore.Create{
			Key: state.NewKey("configmaps", "default", "a"), Object: &state.Object{Value: []byte("{}"), UID: "a"},
		}.Encode()
		must(t, err)
		must(t, l.StoreLog(&raft.Log{Index: first, Term: 1, Type: raft.LogCommand, Data: data}))
		must(t, l.Close())
		r, err := offline.Inspect(dir, 0, quiet())
		must(t, err)
		if got := fmt.Sprint(r.Problems); want == "" && len(r.Problems) > 0 || !strings.Contains(got, want) {
			t.Errorf("a log that begins with entry %d: problems %s, want %q", first, got, want)
		}
	}
}
