package command_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// backups returns the names of the scheduled backups in a directory. The oldest is first.
func backups(ts *testscript.TestScript, dir string) []string {
	names, err := filepath.Glob(filepath.Join(ts.MkAbs(dir), "quorate-*.backup"))
	ts.Check(err)
	slices.Sort(names)
	return names
}

// scheduled DIR COUNT waits for that many new backups in a directory.
func scheduled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: scheduled DIR COUNT")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	seen := map[string]bool{}
	for _, name := range backups(ts, args[0]) {
		seen[name] = true
	}
	old := len(seen)
	for end := time.Now().Add(eventually); len(seen) < old+want; time.Sleep(filePoll) {
		if time.Now().After(end) {
			ts.Fatalf("%d new backups within %s, want %d", len(seen)-old, eventually, want)
		}
		for _, name := range backups(ts, args[0]) {
			seen[name] = true
		}
	}
}

// newest DIR FILE copies the newest backup of a directory.
func newest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: newest DIR FILE")
	}
	names := backups(ts, args[0])
	if len(names) == 0 {
		ts.Fatalf("%s has no backup", args[0])
	}
	content, err := os.ReadFile(names[len(names)-1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), content, 0o600))
}
