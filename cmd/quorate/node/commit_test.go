package node

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"quorate/cmd/quorate/datadir"
	"quorate/raftstore/smalldisk"
)

// firstLine is closed by the first line that is logged.
type firstLine chan struct{}

func (n firstLine) Write(line []byte) (int, error) {
	close(n)
	return len(line), nil
}

// A node that becomes ready for the first time on a full disk continues to run, and stores its name
// once there is space.
func TestCommitWaitsForSpace(t *testing.T) {
	disk := smalldisk.New(t, 1<<20)
	dir, err := datadir.Open(datadir.Config{Path: disk.Dir, Name: "n1", Found: true})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	disk.Fill(0)
	logged, done := make(firstLine), make(chan error, 1)
	n := &Node{dir: dir, logger: slog.New(slog.NewTextHandler(logged, nil))}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { done <- n.commit(ctx) }()
	select {
	case <-logged:
	case err := <-done:
		t.Fatalf("on a full disk: %v", err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("a node that is stopped meanwhile ends with %v", err)
	}
	disk.Clear()
	if err := n.commit(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir.Path("identity.json")); err != nil {
		t.Error(err)
	}
}
