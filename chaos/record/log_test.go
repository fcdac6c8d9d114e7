package record

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/chaos/disk"
	"quorate/raftstore/log"
)

const (
	// powerCuts is the number of kills and power cuts of one log: two within each of the first syncs,
	// where the log begins a segment.
	powerCuts = 32
	// syncDelay is the duration of a sync, so that a kill comes within one.
	syncDelay = 10 * time.Millisecond
)

// openLog opens a log whose files have few entries.
func openLog(path string) (*log.Store, error) {
	return log.Open(log.Config{Dir: path, SegmentBytes: 16 << 10, Logger: slog.New(slog.DiscardHandler)})
}

// entry returns the entry at an index, of a size between 0 and 3 KiB.
func entry(index uint64) *raft.Log {
	data := bytes.Repeat(fmt.Appendf(nil, "<%d>", index), int(index%11)*int(index%7))
	return &raft.Log{Index: index, Term: 1, Type: raft.LogCommand, Data: data, AppendedAt: time.Unix(int64(index), 0).UTC()}
}

// appendUntilKilled appends entries and stores terms, and prints the last index after each.
func appendUntilKilled(path string) error {
	l, err := openLog(path)
	if err != nil {
		return err
	}
	last, err := l.LastIndex()
	for round := uint64(1); err == nil; round++ {
		var batch []*raft.Log
		for range 1 + round%5 {
			batch = append(batch, entry(last+1+uint64(len(batch))))
		}
		if err = l.StoreLogs(batch); err != nil {
			break
		}
		last += uint64(len(batch))
		fmt.Println(last)
		if round%4 == 0 {
			err = l.SetUint64([]byte(log.CurrentTerm), last)
			fmt.Println(last)
		}
	}
	return err
}

// printState checks all entries and prints the last index and the term.
func printState(path string) error {
	l, err := openLog(path)
	if err != nil {
		return err
	}
	last, err := l.LastIndex()
	if err == nil {
		err = l.Verify(context.Background(), 1)
	}
	for index := uint64(1); err == nil && index <= last; index++ {
		var got raft.Log
		if err = l.GetLog(index, &got); err == nil && !bytes.Equal(got.Data, entry(index).Data) {
			err = fmt.Errorf("entry %d is %.20q", index, got.Data)
		}
	}
	term, termErr := l.GetUint64([]byte(log.CurrentTerm))
	if errors.Is(termErr, log.ErrKeyNotFound) {
		termErr = nil
	}
	fmt.Println(last, term)
	return errors.Join(err, termErr, l.Close())
}

// TestLogSurvivesPowerCuts kills a process that appends to a log, within one sync after the other,
// and cuts the power: all unsynced changes are lost, or any part of them. Each time the log has all
// that was acknowledged, and nothing that was not appended.
func TestLogSurvivesPowerCuts(t *testing.T) {
	d := onDisk(t)
	path := filepath.Join(d.Dir(), "log")
	r := rand.New(rand.NewPCG(1, 2))
	var acknowledged, term uint64
	for round := range powerCuts {
		least := acknowledged
		acknowledged = max(acknowledged, appendAndKill(t, d, path, int64(1+round/2)))
		if round%2 == 0 {
			must(t, d.Crash())
		} else {
			must(t, d.Tear(r))
		}
		var last, stored uint64
		if _, err := fmt.Sscan(runChild(t, printLogState, path), &last, &stored); err != nil {
			t.Fatal(err)
		}
		if last < acknowledged || stored < term || stored > last+1 {
			t.Fatalf("round %d: the log ends with %d at term %d; %d was acknowledged, of at least %d, and term %d", round, last, stored, acknowledged, least, term)
		}
		acknowledged, term = last, stored
	}
	if s := d.Stats(); s.LostBytes == 0 {
		t.Errorf("no power cut took anything: %+v", s)
	}
}

// appendAndKill starts a process that appends, kills it within the sync of the given number, and
// returns the last index that it has acknowledged.
func appendAndKill(t *testing.T, d *disk.Disk, path string, syncs int64) (acknowledged uint64) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self, appendLog, path)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	d.Set(disk.Faults{FsyncDelay: syncDelay})
	defer d.Set(disk.Faults{})
	start := d.Stats().Fsyncs
	must(t, cmd.Start())
	eventually(t, "the process syncs", func() bool { return d.Stats().Fsyncs >= start+syncs })
	must(t, cmd.Process.Kill())
	for lines := bufio.NewScanner(out); lines.Scan(); { // what it had acknowledged before it died
		if _, err := fmt.Sscan(lines.Text(), &acknowledged); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatal(err)
	}
	return acknowledged
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
