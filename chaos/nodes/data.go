package nodes

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
)

// DataDir is where a node keeps its data.
func (p *Processes) DataDir(name string) string { return filepath.Join(p.dir, name) }

// KeyFile is the cluster key that the nodes are started with.
func (p *Processes) KeyFile() string { return p.keyFile }

// Command runs a command of the binary, such as `backup`, and returns what it wrote to standard output; the error has what it wrote
// to standard error.
func (p *Processes) Command(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, p.binary, args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("quorate %s: %w: %s", args[0], err, exit.Stderr)
	}
	return string(out), err
}
