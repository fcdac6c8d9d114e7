package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	nodeBinary = "bin/quorate"
	// stopTimeout is how long a node may take to stop before it is killed.
	stopTimeout = 30 * time.Second
)

// cluster is a number of nodes on this machine.
type cluster struct {
	dir    string
	binary string
	list   []*node
}

// node is one server process.
type node struct {
	name, dir string
	api       string // HOST:PORT
	args      []string
	cmd       *exec.Cmd
	exited    chan error
}

func (n *node) pid() int { return n.cmd.Process.Pid }

// start starts count nodes with data below dir and waits until they are ready.
func start(ctx context.Context, dir string, count int) (*cluster, error) {
	c := &cluster{dir: dir, binary: nodeBinary}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ports, err := freePorts(3 * count)
	if err != nil {
		return nil, err
	}
	join := make([]string, count)
	for i := range join {
		join[i] = ports[3*i+2]
	}
	for i := range count {
		n := &node{name: "n" + strconv.Itoa(i+1), api: ports[3*i]}
		n.dir = filepath.Join(dir, n.name)
		n.args = []string{"serve", "--name", n.name, "--data-dir", n.dir, "--api-addr", n.api, "--peer-addr", ports[3*i+1],
			"--gossip-addr", join[i]}
		if count > 1 {
			n.args = append(n.args, "--bootstrap-expect", strconv.Itoa(count), "--join", strings.Join(join, ","),
				"--cluster-key-file", filepath.Join(dir, "n1", "cluster.key"))
		}
		c.list = append(c.list, n)
	}
	if count > 1 {
		if err := c.makeKey(); err != nil {
			return nil, err
		}
	}
	if err := c.startAll(ctx); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// makeKey creates the cluster key at the place where the first node would.
func (c *cluster) makeKey() error {
	key, err := exec.Command("sh", "-c", "head -c 32 /dev/urandom | base64").Output()
	if err != nil {
		return fmt.Errorf("make a cluster key: %w", err)
	}
	if err := os.MkdirAll(c.list[0].dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.list[0].dir, "cluster.key"), key, 0o600)
}

// freePorts returns loopback addresses whose ports were free at the time of the call, for TCP and
// UDP.
func freePorts(count int) ([]string, error) {
	var addresses []string
	for len(addresses) < count {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer tcp.Close()
		udp, err := net.ListenPacket("udp", tcp.Addr().String())
		if err != nil {
			continue // in use for UDP: try another
		}
		defer udp.Close()
		addresses = append(addresses, tcp.Addr().String())
	}
	return addresses, nil
}

func (c *cluster) startAll(ctx context.Context) error {
	for _, n := range c.list {
		if err := n.start(c.binary); err != nil {
			return err
		}
	}
	for _, n := range c.list {
		if err := n.awaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// start starts the process; its output goes to DIR.log.
func (n *node) start(binary string) error {
	log, err := os.OpenFile(n.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	n.cmd = command(binary, n.args)
	n.cmd.Stdout, n.cmd.Stderr = log, log
	if err := n.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", binary, err)
	}
	n.exited = make(chan error, 1)
	go func() { n.exited <- n.cmd.Wait() }() // ends with the process, which stop waits for
	return nil
}

func (n *node) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, nodeBinary, "healthcheck", "--data-dir", n.dir, "--wait", startTimeout.String()).CombinedOutput()
	if err == nil {
		return nil
	}
	text, logErr := os.ReadFile(n.dir + ".log")
	return errors.Join(fmt.Errorf("node %s: %w: %s\n%s", n.name, err, out, lastLines(text, 10)), logErr)
}

func lastLines(text []byte, count int) []byte {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-count):], []byte("\n"))
}

// stop ends the nodes one after the other by their process ids. It may be called repeatedly.
func (c *cluster) stop() error {
	var errs []error
	for _, n := range c.list {
		if n.cmd == nil || n.cmd.Process == nil {
			continue
		}
		errs = append(errs, n.stop())
		n.cmd = nil
	}
	return errors.Join(errs...)
}

func (n *node) stop() error {
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop node %s: %w", n.name, err)
	}
	expired := time.NewTimer(stopTimeout)
	defer expired.Stop()
	select {
	case err := <-n.exited:
		if err != nil {
			text, logErr := os.ReadFile(n.dir + ".log")
			return errors.Join(fmt.Errorf("node %s: %w:\n%s", n.name, err, lastLines(text, 5)), logErr)
		}
		return nil
	case <-expired.C:
		return errors.Join(fmt.Errorf("node %s did not stop within %s", n.name, stopTimeout), n.cmd.Process.Kill(), <-n.exited)
	}
}

// residentMiB returns the resident memory of a process in MiB.
func residentMiB(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no VmRSS", pid)
}
