package network

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"quorate/chaos/osthread"
)

// Host is a machine on the network: a namespace with one interface and a loopback of its own.
type Host struct {
	name    string
	address netip.Addr
	thread  *osthread.Thread // lives in the namespace, and keeps it; nil for Clients, whose namespace is everybody's
	device  *os.File
	// links lead to the other hosts, by the last byte of their address.
	links [256]atomic.Pointer[link]
	stray atomic.Uint64 // packets to nobody on this network
}

// newHost makes a host with the address, the namespace too unless it is that of the clients.
func newHost(name string, address netip.Prefix) (*Host, error) {
	h := &Host{name: name, address: address.Addr()}
	if name == Clients {
		var err error
		h.device, err = openDevice("quorate%d", address)
		return h, err
	}
	h.thread = osthread.New()
	err := h.thread.Do(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		if err := setLoopbackUp(); err != nil {
			return err
		}
		h.device, err = openDevice("quorate0", address)
		return err
	})
	if err != nil {
		h.thread.Close()
		return nil, fmt.Errorf("host %s: %w", name, err)
	}
	return h, nil
}

// Name returns the host's name in a Link.
func (h *Host) Name() string { return h.name }

// Address returns the host's address on the network.
func (h *Host) Address() netip.Addr { return h.address }

// Start starts a command on the host. It is killed when the network is closed, or when this process
// ends.
func (h *Host) Start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return h.Do(cmd.Start)
}

// Do runs a function in the host's namespace, one at a time: a socket that it opens, without
// starting a goroutine, is the host's.
func (h *Host) Do(do func() error) error {
	if h.thread == nil {
		return do()
	}
	return h.thread.Do(do)
}

// forward reads what the host sends and carries it over its links, until the device is closed.
func (h *Host) forward(subnet netip.Prefix) error {
	buffer := make([]byte, headerBytes+mtu)
	for {
		size, err := h.device.Read(buffer)
		if errors.Is(err, os.ErrClosed) || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		packet := buffer[:size]
		var out *link
		if to, ok := destination(packet); ok && subnet.Contains(to) {
			out = h.links[to.As4()[3]].Load()
		}
		if out == nil {
			h.stray.Add(1)
			continue
		}
		out.carry(packet)
	}
}

// close takes the host off the network.
func (h *Host) close() error {
	err := h.device.Close()
	if h.thread != nil {
		h.thread.Close()
	}
	return err
}
