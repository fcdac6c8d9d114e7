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
	"strings"
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
	// failedSyncs is the number of syncs of which one fails. It includes those of the start.
	failedSyncs = 14
	// syncDelay is the duration of a sync, so that a kill comes within one.
	syncDelay = 10 * time.Millisecond
)

// openLog opens a log whose files have few entries.
func openLog(path string) (*log.Store, error) {
	return log.Open(log.Config{Dir: path, SegmentBytes: 16 << 10, Logger: slog.New(slog.DiscardHandler)})
}

// entry returns the entry at an index, of a size between 0 and 3 KiB.
func entry(index uint64) *raft.Log {
	data := bytes.Repeat(fmt.Appendf(nil, "<%048d>", index), int(index%11)*int(index%7))
	return &raft.Log{Index: index, Term: 1, Type: raft.LogCommand, Data: data, AppendedAt: time.Unix(int64(index), 0).UTC()}
}

// position is the end of a log.
type position struct{ last, term uint64 }

func (p position) print() { fmt.Println(p.last, p.term) }

func (p *position) scan(line string) error {
	_, err := fmt.Sscan(line, &p.last, &p.term)
	return err
}

// positionOf returns the last index and the term of a log.
func positionOf(l *log.Store) (p position, err error) {
	if p.last, err = l.LastIndex(); err != nil {
		return p, err
	}
	p.term, err = l.GetUint64([]byte(log.CurrentTerm))
	if errors.Is(err, log.ErrKeyNotFound) {
		err = nil
	}
	return p, err
}

// appendUntilKilled stores terms and appends entries, and prints the position at first and after
// each change.
func appendUntilKilled(path string) error {
	l, err := openLog(path)
	if err != nil {
		return err
	}
	p, err := positionOf(l)
	p.print()
	for round := uint64(1); err == nil; round++ {
		if round%4 == 1 {
			if err = l.SetUint64([]byte(log.CurrentTerm), p.term+1); err != nil {
				break
			}
			p.term++
			p.print()
		}
		var batch []*raft.Log
		for range 1 + round%5 {
			batch = append(batch, entry(p.last+1+uint64(len(batch))))
		}
		if err = l.StoreLogs(batch); err == nil {
			p.last += uint64(len(batch))
			p.print()
		}
	}
	return err
}

// printState checks all entries and prints the position.
func printState(path string) error {
	l, err := openLog(path)
	if err != nil {
		return err
	}
	p, err := positionOf(l)
	if err == nil {
		err = l.Verify(context.Background(), 1)
	}
	for index := uint64(1); err == nil && index <= p.last; index++ {
		var got raft.Log
		if err = l.GetLog(index, &got); err == nil && !bytes.Equal(got.Data, entry(index).Data) {
			err = fmt.Errorf("entry %d is %.20q", index, got.Data)
		}
	}
	p.print()
	return errors.Join(err, l.Close())
}

// TestLogSurvivesPowerCuts kills a process that appends to a log, within one sync after the other,
// and cuts the power: all unsynced changes are lost, or any part of them. Each time the log has all
// that was acknowledged, and nothing that was not appended.
func TestLogSurvivesPowerCuts(t *testing.T) {
	d := onDisk(t)
	path := filepath.Join(d.Dir(), "log")
	r := rand.New(rand.NewPCG(1, 2))
	var acknowledged position
	for round := range powerCuts {
		acknowledged = appendAndKill(t, d, path, int64(1+round/2), acknowledged)
		if round%2 == 0 {
			must(t, d.Crash())
		} else {
			must(t, d.Tear(r))
		}
		acknowledged = wantState(t, path, acknowledged)
	}
	if s := d.Stats(); s.LostBytes == 0 {
		t.Errorf("no power cut took anything: %+v", s)
	}
}

// TestLogSurvivesFailedSyncs has a sync of a process fail, which discards what it was to write
// although reads return it. The process ends, the next one goes on with what it reads, a sync fails
// there, and the power is cut. The log has all that either has acknowledged or read.
func TestLogSurvivesFailedSyncs(t *testing.T) {
	d := onDisk(t)
	path := filepath.Join(d.Dir(), "log")
	var acknowledged position
	for round := range int64(4 * failedSyncs) { // each sync four times, each time with another one
		acknowledged = appendUntilSyncFails(t, d, path, round%failedSyncs, acknowledged)
		acknowledged = appendUntilSyncFails(t, d, path, (round*5+round/failedSyncs*3)%failedSyncs, acknowledged)
		must(t, d.Crash())
		acknowledged = wantState(t, path, acknowledged)
	}
}

// wantState checks that a log has all that was acknowledged, and returns what it has.
func wantState(t *testing.T, path string, acknowledged position) (got position) {
	t.Helper()
	must(t, got.scan(runChild(t, printLogState, path)))
	if got.last < acknowledged.last || got.term < acknowledged.term {
		t.Fatalf("the log is at %+v; %+v was acknowledged", got, acknowledged)
	}
	return got
}

// appendAndKill starts a process that appends, kills it within the sync of the given number, and
// returns the position that it has acknowledged last, former if none.
func appendAndKill(t *testing.T, d *disk.Disk, path string, syncs int64, former position) position {
	t.Helper()
	start := d.Stats().Fsyncs
	return appendAndEnd(t, d, path, disk.Faults{FsyncDelay: syncDelay}, former, func(p *os.Process) {
		eventually(t, "the process syncs", func() bool { return d.Stats().Fsyncs >= start+syncs })
		must(t, p.Kill())
	})
}

// appendUntilSyncFails starts a process that appends, whose syncs fail after the given number, and
// returns the position that it has acknowledged last, former if none.
func appendUntilSyncFails(t *testing.T, d *disk.Disk, path string, syncs int64, former position) position {
	t.Helper()
	return appendAndEnd(t, d, path, disk.Faults{FailFsync: true, FailAfter: syncs}, former, func(*os.Process) {})
}

// appendAndEnd starts a process that appends on a faulty disk, calls end, and waits for the end of
// the process.
func appendAndEnd(t *testing.T, d *disk.Disk, path string, faults disk.Faults, acknowledged position, end func(*os.Process)) position {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self, appendLog, path)
	cmd.Env = childEnvironment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	d.Set(faults)
	defer d.Set(disk.Faults{})
	must(t, cmd.Start())
	end(cmd.Process)
	for lines := bufio.NewScanner(out); lines.Scan(); { // what it had acknowledged before it ended
		must(t, acknowledged.scan(lines.Text()))
	}
	err = cmd.Wait()
	killed := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	if killed == faults.FailFsync || faults.FailFsync && !strings.Contains(stderr.String(), syscall.EIO.Error()) {
		t.Fatalf("%v: %s", err, &stderr)
	}
	return acknowledged
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
