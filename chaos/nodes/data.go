package nodes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// tailBytes is the maximum number of bytes read from the end of a log.
const tailBytes = 256 << 10

// DataDir returns the data directory of a node.
func (p *Processes) DataDir(name string) string { return filepath.Join(p.c.Dir, name) }

// KeyFile returns the file with the cluster key of the nodes.
func (p *Processes) KeyFile() string { return p.keyFile }

// LogFile returns the file with a node's output.
func (p *Processes) LogFile(name string) string { return filepath.Join(p.c.Dir, name+".log") }

// LogTail returns at most count of the last lines of a node's output, without those about single
// requests.
func (p *Processes) LogTail(name string, count int) (string, error) {
	file, err := os.Open(p.LogFile(name))
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-tailBytes), tailBytes))
	if err != nil {
		return "", err
	}
	lines := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"), func(line string) bool {
		return line == "" || strings.Contains(line, "msg=request ")
	})
	return strings.Join(lines[max(0, len(lines)-count):], ""), nil
}

// Command runs a command of the binary, such as `backup`, and returns its standard output. Errors
// contain its standard error.
func (p *Processes) Command(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, p.c.Binary, args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("quorate %s: %w: %s", args[0], err, exit.Stderr)
	}
	return string(out), err
}

// Operate implements Operator. It runs the command on the node's own virtual host, with the
// credentials in its data directory, so that rules for links do not affect it.
func (p *Processes) Operate(ctx context.Context, name string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, p.c.Binary, append(slices.Clone(args), "--data-dir", p.DataDir(name))...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	p.mu.Lock()
	one, err := p.find(name)
	if err == nil {
		err = p.launch(one, cmd)
	}
	p.mu.Unlock()
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return "", fmt.Errorf("quorate %s on node %s: %w: %s", strings.Join(args, " "), name, errors.Join(err, ctx.Err()), stderr.Bytes())
	}
	return stdout.String(), nil
}
