package failpoint_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/failpoint"
)

const (
	// patience bounds each wait for a condition, on a machine that is thirty times slower than it
	// should be.
	patience = 3 * time.Minute
	// scale shortens the timeouts of nodes: a start takes less than a second, and members are
	// promoted in seconds.
	scale = "0.3"
	// interval is how often a condition is looked at.
	interval = 10 * time.Millisecond
	// token is good whatever the clock says, unlike those that nodes issue.
	token = "static"
)

// server is a node that is killed and started again on its data.
type server struct {
	t      *testing.T
	binary string
	home   string // a folder for all but its data
	dir    string // the data directory
	name   string
	host   string // an address of loopback that no other node has
	flags  []string

	process *process
	client  *client.Client // once it was ready
}

type process struct {
	cmd    *exec.Cmd
	output *output
	ended  chan struct{} // closed when it is gone
}

// output is what a process has written.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// newServer prepares a node with an empty data directory, the only one of its cluster unless flags
// say otherwise.
func newServer(t *testing.T, name string, flags ...string) *server {
	t.Helper()
	s := &server{t: t, binary: binary(t), home: t.TempDir(), name: name, host: freeHost(t)}
	s.dir = filepath.Join(s.home, name)
	tokens := filepath.Join(s.home, "tokens")
	if err := os.WriteFile(tokens, []byte(token+`,admin,admin,"system:masters"`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.flags = append([]string{"--token-file", tokens, "--timeout-scale", scale}, flags...)
	t.Cleanup(func() {
		s.kill()
		if s.client != nil {
			s.client.Close()
		}
		if t.Failed() && s.process != nil {
			t.Logf("the last output of %s:\n%.4000s", name, tail(s.process.output.String(), 4000))
		}
	})
	return s
}

func tail(text string, most int) string { return text[max(0, len(text)-most):] }

// freeHost returns an address of loopback at which nobody listens. Ports of 127.0.0.1 may be taken
// between two lives of a node.
func freeHost(t *testing.T) string {
	t.Helper()
	for range 100 {
		host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
		listener, err := net.Listen("tcp", net.JoinHostPort(host, "7443"))
		if err == nil {
			if err := listener.Close(); err != nil {
				t.Fatal(err)
			}
			return host
		}
	}
	t.Fatal("no address of loopback is free")
	return ""
}

func (s *server) api() string    { return net.JoinHostPort(s.host, "6443") }
func (s *server) gossip() string { return net.JoinHostPort(s.host, "7946") }
func (s *server) traps() string  { return net.JoinHostPort(s.host, "2379") }
func (s *server) clock() string  { return filepath.Join(s.home, "clock") }

// start starts the node, with points armed from the very beginning.
func (s *server) start(armed map[string]string) {
	s.t.Helper()
	if s.process != nil && !s.gone() {
		s.t.Fatalf("%s runs already", s.name)
	}
	env, err := failpoint.Env(s.traps(), armed)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := os.Stat(s.clock()); errors.Is(err, os.ErrNotExist) {
		if err := failpoint.WriteClock(s.clock(), 0); err != nil {
			s.t.Fatal(err)
		}
	}
	cmd := exec.Command(s.binary, append([]string{
		"serve", "--name", s.name, "--data-dir", s.dir, "--api-addr", s.api(), "--peer-addr", net.JoinHostPort(s.host, "7443"),
		"--gossip-addr", s.gossip(), "--request-log", "none",
	}, s.flags...)...)
	cmd.Env = slices.Concat(os.Environ(), env, []string{failpoint.ClockEnv(s.clock())})
	p := &process{cmd: cmd, output: new(output), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.output, p.output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // no node outlives a test that is itself killed
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.process = p
	go func() { // owned by kill, which waits for it
		defer close(p.ended)
		_ = cmd.Wait() // how it ended is in its state
	}()
}

// gone reports whether the process has ended.
func (s *server) gone() bool {
	select {
	case <-s.process.ended:
		return true
	default:
		return false
	}
}

// awaitReady waits until the node is ready, and returns false when its process ends instead.
func (s *server) awaitReady() bool {
	s.t.Helper()
	ready := false
	await(s.t, s.name+" to be ready", func() bool {
		ready = s.connect() && s.client.Ready(s.t.Context())
		return ready || s.gone()
	})
	return ready
}

// run starts the node with nothing armed, and waits until it is ready.
func (s *server) run() {
	s.t.Helper()
	s.start(nil)
	if !s.awaitReady() {
		s.t.Fatalf("%s ended instead of getting ready:\n%s", s.name, tail(s.process.output.String(), 2000))
	}
}

// connect makes the client as soon as the node has written how to.
func (s *server) connect() bool {
	if s.client != nil {
		return true
	}
	credentials, err := client.ReadKubeconfig(filepath.Join(s.dir, "admin.kubeconfig"))
	if err != nil {
		return false
	}
	credentials.Token = token
	s.client, err = client.New("https://"+s.api(), credentials)
	return err == nil
}

// kill ends the process, if it runs, and waits until it is gone.
func (s *server) kill() {
	if s.process == nil {
		return
	}
	_ = s.process.cmd.Process.Kill() // fails only when it is gone
	<-s.process.ended
}

// renew starts the node as a new one, with an empty data directory.
func (s *server) renew() {
	s.t.Helper()
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Fatal(err)
	}
	s.start(nil)
}

// moveClock moves the node's wall clock, soon.
func (s *server) moveClock(offset time.Duration) {
	s.t.Helper()
	if err := failpoint.WriteClock(s.clock(), offset); err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.cmd.Process.Signal(syscall.SIGUSR2); err != nil {
		s.t.Fatal(err)
	}
}

// arm arms a point, now, unless the process ends meanwhile.
func (s *server) arm(point, terms string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	if err := failpoint.Arm(ctx, http.DefaultClient, s.traps(), point, terms); err != nil {
		await(s.t, fmt.Sprintf("%s to be gone after %v", s.name, err), s.gone)
	}
}

// awaitKilled waits for the end of the process, which must be at the point.
func (s *server) awaitKilled(point string) {
	s.t.Helper()
	await(s.t, s.name+" to be killed at "+point, s.gone)
	killedAt(s.t, s.process.cmd.ProcessState, s.process.output.String(), point)
}

func killedAt(t *testing.T, state *os.ProcessState, output, point string) {
	t.Helper()
	status := state.Sys().(syscall.WaitStatus)
	if !status.Signaled() || status.Signal() != syscall.SIGKILL || !strings.Contains(output, "failpoint: killed at "+point+"\n") {
		t.Fatalf("ended with %s instead of at %s:\n%s", state, point, tail(output, 2000))
	}
}

// command runs a command of the binary, with a point armed in it, as who owns the data directory of
// the node.
func (s *server) command(armed map[string]string, args ...string) (*os.ProcessState, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	env, err := failpoint.Env("", armed)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, s.binary, append(args, "--data-dir", s.dir)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		s.t.Fatalf("%s: %v", args, err)
	}
	return cmd.ProcessState, string(out)
}

// await looks until the condition holds.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s", patience, what)
		}
		time.Sleep(interval)
	}
}
