package nodes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"quorate/chaos/failpoint"
	"quorate/chaos/network"
)

var errNoTestBuild = errors.New("the nodes' binary was not built for tests")

// SetClock implements Clocks. It needs a TestBuild.
func (p *Processes) SetClock(ctx context.Context, name string, offset time.Duration) error {
	if !p.c.TestBuild {
		return errNoTestBuild
	}
	if err := p.setClock(name, offset); err != nil {
		return fmt.Errorf("set the clock of node %s: %w", name, err)
	}
	// A process that does not handle the signal yet would be killed by it.
	var err error
	waited := Await(ctx, func() bool {
		var listens bool
		listens, err = p.listens(name, syscall.SIGUSR2)
		return listens || err != nil
	})
	if err := errors.Join(waited, err); err != nil {
		return fmt.Errorf("set the clock of node %s: %w", name, err)
	}
	return p.send(name, false, syscall.SIGUSR2)
}

// setClock writes the file that a node's process reads. It holds the lock so that a process that is
// started at the same time reads the new offset.
func (p *Processes) setClock(name string, offset time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.find(name); err != nil {
		return err
	}
	return failpoint.WriteClock(p.clockFile(name), offset)
}

// listens reports whether a node's process handles a signal. It returns true if there is no
// process.
func (p *Processes) listens(name string, signal syscall.Signal) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(name)
	if err != nil || !one.current.runs() {
		return true, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", one.current.cmd.Process.Pid))
	if errors.Is(err, os.ErrNotExist) {
		return true, nil // it has just ended
	}
	if err != nil {
		return false, err
	}
	return catches(string(status), signal)
}

// catches reports whether a process with the given status handles a signal.
func catches(status string, signal syscall.Signal) (bool, error) {
	for line := range strings.Lines(status) {
		if mask, ok := strings.CutPrefix(line, "SigCgt:"); ok {
			bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return bits&(1<<(signal-1)) != 0, err
		}
	}
	return false, errors.New("the process's status doesn't tell which signals it handles")
}

// Arm implements Failpoints. It requires a TestBuild. It is not an error if the failpoint ends the
// process before Arm returns.
func (p *Processes) Arm(ctx context.Context, name, point, terms string) error {
	if !p.c.TestBuild {
		return errNoTestBuild
	}
	address, host, err := p.arm(name, point, terms)
	if err != nil {
		return fmt.Errorf("node %s: %w", name, err)
	}
	local := &http.Client{Transport: &http.Transport{DialContext: dialOn(host)}}
	waited := Await(ctx, func() bool {
		runs, unknown := p.Running(ctx, name)
		if err = unknown; err != nil || !runs {
			return true // it is armed from the next start on
		}
		err = failpoint.Arm(ctx, local, address, point, terms)
		_, unreachable := errors.AsType[*net.OpError](err)
		return !unreachable // it may not listen yet
	})
	if err := errors.Join(waited, err); err != nil {
		return fmt.Errorf("node %s: %w", name, err)
	}
	return nil
}

// dialOn returns a function that connects from a node's own host, if it has one, so that rules for
// links do not affect the connection.
func dialOn(host *network.Host) func(ctx context.Context, network, address string) (net.Conn, error) {
	if host == nil {
		return (&net.Dialer{}).DialContext
	}
	return func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		err = host.Do(func() (dialled error) {
			conn, dialled = (&net.Dialer{}).DialContext(ctx, network, address)
			return dialled
		})
		return conn, err
	}
}

// arm records the terms for the node's next start, and returns the address and host of its current
// process.
func (p *Processes) arm(name, point, terms string) (address string, host *network.Host, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(name)
	if err != nil {
		return "", nil, err
	}
	if terms == "" {
		delete(one.armed, point)
		return one.failpoints, one.host, nil
	}
	if _, err := failpoint.Env(one.failpoints, map[string]string{point: terms}); err != nil {
		return "", nil, err
	}
	one.armed[point] = terms
	return one.failpoints, one.host, nil
}
