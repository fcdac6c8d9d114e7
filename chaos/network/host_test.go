package network_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"quorate/chaos/capability"
	"quorate/chaos/network"
)

// spawn starts this test binary on a host as a child that listens there, and waits until it does.
func spawn(t *testing.T, h *network.Host) *exec.Cmd {
	t.Helper()
	address := net.JoinHostPort(h.Address().String(), "9000")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+address)
	if err := h.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			end(t, cmd)
		}
	})
	await(t, "the child listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return cmd
}

func end(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), arrival)
	defer cancel()
	for tick := time.Tick(10 * time.Millisecond); !condition(); {
		select {
		case <-tick:
		case <-ctx.Done():
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

func namespace(t *testing.T, process string) string {
	t.Helper()
	name, err := os.Readlink("/proc/" + process + "/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestProcessKeepsItsNamespaceOverRestarts(t *testing.T) {
	_, a, b := start(t)
	first, other := spawn(t, a), spawn(t, b)
	home := namespace(t, strconv.Itoa(first.Process.Pid))
	if home == namespace(t, "self") || home == namespace(t, strconv.Itoa(other.Process.Pid)) {
		t.Error("a's namespace is not its own")
	}
	end(t, first)
	second := spawn(t, a)
	if again := namespace(t, strconv.Itoa(second.Process.Pid)); again != home {
		t.Errorf("started again in %s, was in %s", again, home)
	}
}

func TestCloseKillsWhatRunsOnTheHosts(t *testing.T) {
	capability.Require(t, network.Available())
	n, err := network.New(1, discard)
	if err != nil {
		t.Fatal(err)
	}
	cmd := spawn(t, add(t, n, "a"))
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Errorf("the child ended with %v", cmd.ProcessState)
	}
}

func TestNetworksAtTheSameTimeAreApart(t *testing.T) {
	one, _, _ := start(t)
	two, _, _ := start(t)
	if one.Subnet().Overlaps(two.Subnet()) {
		t.Errorf("%s and %s", one.Subnet(), two.Subnet())
	}
}

// TestNothingIsLeftOfAKilledProcess kills a process that has a network with a process on it.
func TestNothingIsLeftOfAKilledProcess(t *testing.T) {
	capability.Require(t, network.Available())
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), childEnv+"="+ownerMode)
	owner.Stderr = os.Stderr
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	defer owner.Wait() // it is killed below
	var pid int
	var address string
	_, err = fmt.Fscan(out, &pid, &address)
	if killed := owner.Process.Kill(); err != nil || killed != nil {
		t.Fatal(err, killed)
	}
	await(t, "the process on the network is gone", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ") // nobody's child, and not everywhere is it reaped
	})
	await(t, "the device is gone", func() bool {
		addresses, err := net.InterfaceAddrs()
		return err == nil && !strings.Contains(fmt.Sprint(addresses), address+"/")
	})
}

func TestHostsComeAndGo(t *testing.T) {
	n, a, b := start(t)
	shape(t, n, map[network.Link]network.Rule{{From: network.Clients, To: "c"}: {Drop: true}})
	gone := spawn(t, b)
	if err := n.Remove("b"); err != nil {
		t.Fatal(err)
	}
	if err := gone.Wait(); gone.ProcessState == nil {
		t.Fatal(err)
	}
	c := add(t, n, "c")
	if c.Address() == a.Address() || c.Address() == b.Address() {
		t.Errorf("c has the address of another: %s", c.Address())
	}
	here, there := open(t, a), open(t, c)
	here.send(there, 1, 0)
	if got := there.receive(); got != 1 {
		t.Errorf("c got %d", got)
	}
	everywhere, err := net.Dial("udp", there.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer everywhere.Close()
	if _, err := everywhere.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	await(t, "the rule for c holds", func() bool { return n.Counters()[network.Link{From: network.Clients, To: "c"}].Dropped > 0 })
	for _, name := range []string{"b", network.Clients} {
		if err := n.Remove(name); err == nil {
			t.Errorf("%s was removed", name)
		}
	}
}
