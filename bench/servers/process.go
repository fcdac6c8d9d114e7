package servers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// stopTimeout is how long a process may take to stop before it is killed.
const stopTimeout = 30 * time.Second

// Process is one server process.
type Process struct {
	Name   string // in measurements and messages
	Binary string
	Args   []string
	Log    string // the file that its output is appended to

	cmd    *exec.Cmd
	exited chan error
}

// PID is the id of the process, which must have been started.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Start starts the process.
func (p *Process) Start() error {
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.Binary, p.Args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Binary, err)
	}
	p.cmd, p.exited = cmd, make(chan error, 1)
	go func() { p.exited <- cmd.Wait() }() // ends with the process, which Stop waits for
	return nil
}

// Stop ends the process with SIGTERM, and kills it if that takes too long. It may be called
// repeatedly. A process that ends otherwise than with code 0 or by the signal is an error.
func (p *Process) Stop() error {
	if p.cmd == nil {
		return nil
	}
	cmd := p.cmd
	p.cmd = nil
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.Name, err)
	}
	expired := time.NewTimer(stopTimeout)
	defer expired.Stop()
	select {
	case err := <-p.exited:
		if err != nil && !terminated(err) {
			return fmt.Errorf("%s: %w:\n%s", p.Name, err, p.LastLines(5))
		}
		return nil
	case <-expired.C:
		return errors.Join(fmt.Errorf("%s did not stop within %s", p.Name, stopTimeout), cmd.Process.Kill(), <-p.exited)
	}
}

// Kill ends the process with SIGKILL, and returns when it has ended. Start may follow.
func (p *Process) Kill() error {
	if p.cmd == nil {
		return nil
	}
	cmd := p.cmd
	p.cmd = nil
	err := cmd.Process.Kill()
	<-p.exited // with the signal
	return err
}

// terminated reports whether a process ended by SIGTERM. etcd passes the signal on to itself after
// it has stopped.
func terminated(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGTERM
}

// Ended reports whether the process has ended by itself.
func (p *Process) Ended() bool { return len(p.exited) > 0 }

// LastLines returns the end of what the process has printed.
func (p *Process) LastLines(count int) string {
	text, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return strings.TrimSpace(string(bytes.Join(lines[max(0, len(lines)-count):], []byte("\n"))))
}
