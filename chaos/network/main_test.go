package network_test

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"quorate/chaos/capability"
	"quorate/chaos/network"
)

// childEnv makes the test binary the process that a test starts on a host.
const childEnv = "QUORATE_NETWORK_TEST_CHILD"

// ownerMode makes the child one that has a network of its own.
const ownerMode = "owner"

var discard = slog.New(slog.DiscardHandler)

func TestMain(m *testing.M) {
	switch address := os.Getenv(childEnv); address {
	case "":
	case ownerMode:
		owner()
	default:
		child(address)
	}
	goleak.VerifyTestMain(m)
}

// start returns a network with hosts a and b.
func start(t testing.TB) (n *network.Network, a, b *network.Host) {
	t.Helper()
	capability.Require(t, network.Available())
	n, err := network.New(1, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n, add(t, n, "a"), add(t, n, "b")
}

func add(t testing.TB, n *network.Network, name string) *network.Host {
	t.Helper()
	h, err := n.Add(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// listen opens a TCP listener on a host.
func listen(t testing.TB, h *network.Host) (l net.Listener) {
	t.Helper()
	if err := h.Do(func() (err error) {
		l, err = net.Listen("tcp", h.Address().String()+":0")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// child answers every connection with its process id, until it is killed.
func child(address string) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			panic(err)
		}
		conn.Close()
	}
}

// owner makes a network, starts a child on it, prints the child's process id and its own address,
// and waits to be killed.
func owner() {
	n, err := network.New(1, discard)
	if err != nil {
		panic(err)
	}
	h, err := n.Add("a")
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+net.JoinHostPort(h.Address().String(), "9000"))
	if err := h.Start(cmd); err != nil {
		panic(err)
	}
	fmt.Println(cmd.Process.Pid, n.Subnet().Addr().Next())
	panic(cmd.Wait())
}
