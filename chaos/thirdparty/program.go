package thirdparty

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Program is a program to run, with the processes that it starts.
type Program struct {
	Path string
	Args []string
	Dir  string // the working folder; this process's if it is empty
	Env  []string
	// Output receives what the program prints. A file, unlike a pipe, need not be read until the
	// last process in the background ends.
	Output *os.File
}

// Run runs the program until it ends or the time is over. When it returns, no process is left that
// the program started, unless it left the program's group.
func (p Program) Run(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.Dir, p.Env, p.Output, p.Output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return endGroup(cmd) }
	err := cmd.Run()
	if cmd.Process != nil {
		err = errors.Join(err, endGroup(cmd))
	}
	if ctx.Err() != nil {
		return fmt.Errorf("ended after %s: %w", timeout, ctx.Err())
	}
	return err
}

// endGroup kills the program's process group.
func endGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil // all of it has ended
	}
	return err
}
