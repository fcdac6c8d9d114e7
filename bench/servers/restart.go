package servers

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"time"
)

// readyInterval is the time between two looks whether a node is ready.
const readyInterval = 5 * time.Millisecond

// Restart kills a node, starts it again, and returns the time from the kill until it is ready. Nodes
// count from 0.
func (q *Quorate) Restart(ctx context.Context, node int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	p := q.Processes[node]
	begun := time.Now()
	if err := p.Kill(); err != nil {
		return 0, err
	}
	if err := p.Start(); err != nil {
		return 0, err
	}
	client, err := q.Client(node)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	for {
		if code, err := client.Do(ctx, http.MethodGet, "/readyz", ""); err == nil && code == http.StatusOK {
			return time.Since(begun), nil
		}
		select {
		case <-time.After(readyInterval):
		case <-ctx.Done():
			return 0, fmt.Errorf("node %s is not ready after %s:\n%s", p.Name, startTimeout, p.LastLines(10))
		}
	}
}

// DiskBytes returns the size of a node's data.
func (q *Quorate) DiskBytes(node int) (total int64, err error) {
	err = filepath.WalkDir(q.dirs[node], func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		return nil
	})
	return total, err
}
