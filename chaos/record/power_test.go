package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"

	"quorate/chaos/capability"
	"quorate/chaos/disk"
	"quorate/raftstore/log"
	"quorate/raftstore/snapshot"
)

// childVariable makes the test binary run a child verb on a log.
const childVariable = "QUORATE_TEST_RECORD_CHILD"

// childEnvironment returns the environment of a child. With the race detector, a process waits for a
// second at its end.
func childEnvironment() []string {
	return append(os.Environ(), childVariable+"=1", "GORACE=atexit_sleep_ms=0")
}

// Verbs of a child.
const (
	replaceLog = "replace" // replaces the entries 1 to 10 of a new log by 21 to 25, and ends without closing it
	printLog   = "print"   // prints the first and the last index

	appendLog     = "append" // appendUntilKilled
	printLogState = "state"  // printState
)

// child runs a verb on the log at path.
func child(verb, path string) error {
	switch verb {
	case appendLog:
		return appendUntilKilled(path)
	case printLogState:
		return printState(path)
	}
	l, err := log.Open(log.Config{Dir: path, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if verb == replaceLog {
		return errors.Join(l.StoreLogs(numbered(1, 10)), l.DeleteRange(1, 10), l.StoreLogs(numbered(21, 25)))
	}
	first, err := l.FirstIndex()
	last, lastErr := l.LastIndex()
	fmt.Println(first, last)
	return errors.Join(err, lastErr, l.Close())
}

func numbered(from, to uint64) (entries []*raft.Log) {
	for index := from; index <= to; index++ {
		entries = append(entries, &raft.Log{Index: index, Term: 1, Type: raft.LogNoop})
	}
	return entries
}

// runChild runs a verb in another process, and returns what it printed.
func runChild(t *testing.T, verb, path string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, verb, path)
	cmd.Env = childEnvironment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v", verb, path, err)
	}
	return strings.TrimSpace(string(out))
}

// onDisk returns a disk that loses in a power cut whatever POSIX allows it to lose.
func onDisk(t *testing.T) *disk.Disk {
	t.Helper()
	capability.Require(t, disk.Available())
	root := t.TempDir()
	dir := filepath.Join(root, "mnt")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := disk.Mount(dir, filepath.Join(root, "backing"), slog.New(slog.DiscardHandler), disk.Strict)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestReplacedLogSurvivesAPowerCut checks that a log which was replaced has, after a power cut, the
// entries appended since and no earlier ones.
func TestReplacedLogSurvivesAPowerCut(t *testing.T) {
	d := onDisk(t)
	path := filepath.Join(d.Dir(), "log")
	runChild(t, replaceLog, path)
	if err := d.Crash(); err != nil {
		t.Fatal(err)
	}
	if got, want := runChild(t, printLog, path), "21 25"; got != want {
		t.Errorf("after a power cut the log has the entries %s, want %s", got, want)
	}
}

// TestSnapshotSurvivesAPowerCut checks that a snapshot whose sink was closed without an error is
// complete after a power cut.
func TestSnapshotSurvivesAPowerCut(t *testing.T) {
	d := onDisk(t)
	open := func() *snapshot.Store {
		t.Helper()
		s, err := snapshot.New(snapshot.Config{Dir: d.Dir(), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() }) // it only ends metrics
		return s
	}
	_, trans := raft.NewInmemTransport("")
	sink, err := open().Create(1, 20, 2, raft.Configuration{}, 1, trans)
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("state"), 10_000)
	w := snapshot.NewWriter(sink)
	_, err = w.Write(content)
	if err := errors.Join(err, w.Close(), sink.Close()); err != nil {
		t.Fatal(err)
	}
	if err := d.Crash(); err != nil {
		t.Fatal(err)
	}
	_, stored, err := open().Open(sink.ID())
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(snapshot.NewReader(stored))
	if err := errors.Join(err, stored.Close()); err != nil || !bytes.Equal(got, content) {
		t.Errorf("after a power cut the snapshot has %d bytes, want %d; error %v", len(got), len(content), err)
	}
}
