package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// defaultTimeout ends a suite that names no timeout of its own.
const defaultTimeout = 4 * time.Minute

// errBuild reports that what was to be tested doesn't compile.
var errBuild = errors.New("it doesn't compile")

// failure says how a suite failed.
type failure struct {
	test   string // with subtests; empty when the package failed outside of any test
	hang   bool   // it ran into its timeout
	output string // its last lines

	listed bool // the next line of output names a test that hangs
}

// read takes a line of output in: a test that hits the timeout fails without an event of its own.
func (f *failure) read(line string) {
	switch {
	case strings.HasPrefix(line, "panic: test timed out after"):
		f.hang = true
	case f.hang && strings.TrimSpace(line) == "running tests:":
		f.listed = true
	case f.listed:
		f.listed = false
		if name, _, ok := strings.Cut(strings.TrimSpace(line), " "); ok && f.test == "" {
			f.test = name
		}
	}
}

// name is the test for people, and top what to give to -run.
func (f *failure) name() string {
	if f.test == "" {
		return "the package as a whole"
	}
	return f.test
}

func (f *failure) top() string {
	top, _, _ := strings.Cut(f.test, "/")
	return top
}

// build compiles the package of a file in the tree.
func (t *tree) build(ctx context.Context, pkg string) error {
	dir, path := t.module(pkg)
	cmd := exec.CommandContext(ctx, "go", "build", path)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", errBuild, bytes.TrimSpace(out))
	}
	return nil
}

// test runs a suite up to its first failure. It returns nil when all tests hold.
func (t *tree) test(ctx context.Context, s suite) (*failure, error) {
	dir, path := t.module(s.Package)
	timeout := s.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	args := []string{"test", "-json", "-count=1", "-failfast", "-vet=off", "-timeout", timeout.String()}
	if s.Run != "" {
		args = append(args, "-run", s.Run)
	}
	if s.Race {
		args = append(args, "-race")
	}
	// The binary ends itself; should it not, this ends it. What building takes comes on top.
	ctx, cancel := context.WithTimeout(ctx, timeout+5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append(args, path)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if s.Race {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return &failure{hang: true}, nil
		}
		return nil, ctx.Err()
	}
	return outcome(&stdout, stderr.String(), err)
}

// event is a line of go test -json.
type event struct {
	Action string
	Test   string
	Output string
}

// outcome reads what go test -json printed, given the error that it ended with.
func outcome(stdout io.Reader, stderr string, ended error) (*failure, error) {
	var f failure
	var tail []string
	ran := false
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("go test printed %q", lines.Text())
		}
		switch e.Action {
		case "build-fail":
			return nil, fmt.Errorf("%w: %s", errBuild, strings.Join(tail, ""))
		case "output", "build-output":
			f.read(e.Output)
			tail = append(tail, e.Output)
			tail = tail[max(0, len(tail)-40):]
		case "run":
			ran = true
		case "fail": // a subtest comes before the test that it belongs to
			if f.test == "" {
				f.test = e.Test
			}
		}
	}
	switch {
	case lines.Err() != nil:
		return nil, lines.Err()
	case ended != nil && len(tail) == 0:
		return nil, fmt.Errorf("go test: %w: %s", ended, strings.TrimSpace(stderr))
	case ended != nil:
		f.output = strings.Join(tail, "")
		return &f, nil
	case !ran:
		return nil, errors.New("no test was run")
	}
	return nil, nil
}
