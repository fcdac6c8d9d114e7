//go:build alerts

package deploy_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quorate/chaos/disk"
	"quorate/chaos/nodes"
	"quorate/raftstore/smalldisk"
)

func slowAndHangingDisk(t *testing.T, m *measurements) {
	w := watch(t, m, nodes.ProcessesConfig{Count: 3, Disks: true})
	w.keepWriting()
	w.inject("each sync of all disks takes 0.5 s") // were it the leader's alone, another node would lead
	w.slowDisks(500 * time.Millisecond)
	leader, _ := w.leader()
	w.fires(w.of("QuorateDiskSlow", leader), expected{"QuorateHighLatency", nil})
	w.repair()
	w.slowDisks(0)
	w.clears("QuorateDiskSlow", "QuorateHighLatency")

	leader, _ = w.leader()
	w.inject("a sync of the leader's disk hangs")
	w.Disk(leader).Set(disk.Faults{HangFsync: true})
	w.fires(w.of("QuorateDiskStalled", leader))
	w.repair()
	w.Disk(leader).Set(disk.Faults{})
	w.clears("QuorateDiskStalled")
}

// slowDisks makes each sync of all disks take longer.
func (w watched) slowDisks(delay time.Duration) {
	for _, node := range w.Nodes() {
		w.Disk(node.Name).Set(disk.Faults{FsyncDelay: delay})
	}
}

// fullDisks fills the disk that all nodes share, and that their logs are on.
func fullDisks(t *testing.T, m *measurements) {
	shared := smalldisk.New(t, 256<<20)
	w := watch(t, m, nodes.ProcessesConfig{Count: 3, Dir: shared.Dir, Flags: append(auditFlags(t), "--request-log", "all")})
	w.keepWriting()
	w.inject("other files fill the disks up to within the reserve")
	shared.Fill(40 << 20) // within the reserve of a quarter
	awaited := []expected{{"QuorateReadOnly", nil}, {"QuorateDiskFilling", nil}}
	for _, node := range w.Nodes() {
		awaited = append(awaited, w.of("QuorateNoSpace", node.Name))
	}
	w.fires(awaited...)
	w.repair()
	shared.Clear()
	w.clears("QuorateNoSpace", "QuorateReadOnly")

	w.inject("the disks, with the logs, are full")
	shared.Fill(0)
	w.fires(expected{"QuorateAuditDropped", nil}, expected{"QuorateLogLinesDropped", nil})
	w.repair()
	shared.Clear()
	w.clears("QuorateAuditDropped", "QuorateLogLinesDropped", "QuorateDiskFilling", "QuorateNoSpace")
}

// backupOverdue takes the directory of the backups away, as if its file system were not mounted.
func backupOverdue(t *testing.T, m *measurements) {
	dir := filepath.Join(t.TempDir(), "backups")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w := watch(t, m, nodes.ProcessesConfig{Count: 3, Flags: []string{"--backup-schedule", "@every 5s", "--backup-dir", dir}})
	written := func() bool {
		backups, err := filepath.Glob(filepath.Join(dir, "*.backup"))
		return err == nil && len(backups) > 0
	}
	w.await("a backup is written", written)
	w.inject("the directory of scheduled backups is not mounted")
	w.must(os.Rename(dir, dir+".away"))
	w.fires(expected{"QuorateBackupOverdue", nil})
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was made: %v", err)
	}
	w.repair()
	w.must(os.Mkdir(dir, 0o700))
	w.clears("QuorateBackupOverdue")
	if !written() {
		t.Error("no backup was written after the repair")
	}
}
