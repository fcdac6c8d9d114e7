package nodes

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"quorate/chaos/client"
	"quorate/chaos/network"
	"quorate/chaos/osthread"
)

// ProcessesConfig configures a fleet of local processes.
type ProcessesConfig struct {
	Binary string // path of the server
	Dir    string // directory for data, logs and the cluster key
	Count  int    // number of initial voters: n1, n2, …
	Flags  []string
	Env    []string // NAME=value, in addition to this process's environment
	// Network gives each node its own host on a virtual network (package network), instead of ports
	// on loopback.
	Network bool
	// Disks gives each node's data a disk that can inject faults (package disk).
	Disks bool
	// TestBuild means that the binary was built by package failpoint, with a clock that can be
	// changed.
	TestBuild bool
	// Seed is the seed of random decisions of the network.
	Seed uint64
	Log  *slog.Logger // nil: none
}

// Processes is a Fleet of processes on this machine. It supports all capabilities of this package,
// as far as they are configured; see As.
type Processes struct {
	c       ProcessesConfig
	keyFile string
	network *network.Network // nil if the nodes are on loopback
	// thread starts the nodes on loopback. They are killed when this thread ends.
	thread *osthread.Thread

	mu      sync.Mutex
	nodes   []*process // guarded by mu
	named   int        // number of nodes ever named; guarded by mu
	endings []Ending   // guarded by mu
}

// NewProcesses prepares the nodes with their network and disks, but does not start them. The caller
// must call Close.
func NewProcesses(c ProcessesConfig) (*Processes, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, err
	}
	c.Dir = dir
	p := &Processes{c: c, keyFile: filepath.Join(dir, "cluster.key")}
	if err := p.writeKey(); err != nil {
		return nil, err
	}
	if c.Network {
		p.network, err = network.New(c.Seed, c.Log)
	} else {
		p.thread = osthread.New()
	}
	if err == nil {
		err = p.prepare(c.Count)
	}
	if err != nil {
		return nil, errors.Join(err, p.release())
	}
	return p, nil
}

func (p *Processes) writeKey() error {
	key := make([]byte, 32)
	rand.Read(key)
	if err := os.MkdirAll(p.c.Dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(p.keyFile, []byte(base64.StdEncoding.EncodeToString(key)+"\n"), 0o600)
}

// prepare adds the initial nodes.
func (p *Processes) prepare(count int) error {
	for range count {
		one, err := p.newProcess(true)
		if err != nil {
			return err
		}
		one.founder = true
		p.nodes = append(p.nodes, one)
	}
	return nil
}

// Able reports whether a capability is configured; see As.
func (p *Processes) Able(capability any) bool {
	switch capability.(type) {
	case *Network:
		return p.c.Network
	case *Disks:
		return p.c.Disks
	case *Clocks, *Failpoints:
		return p.c.TestBuild
	default:
		return true // or there is no method for the capability
	}
}

// Nodes implements Fleet.
func (p *Processes) Nodes() (all []Node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.nodes {
		all = append(all, one.node)
	}
	return all
}

// find returns a node of the fleet. The caller must hold mu.
func (p *Processes) find(name string) (*process, error) {
	if i := slices.IndexFunc(p.nodes, func(one *process) bool { return one.node.Name == name }); i >= 0 {
		return p.nodes[i], nil
	}
	return nil, fmt.Errorf("there is no node %s", name)
}

// StartAll starts all nodes and waits until they form a ready cluster.
func (p *Processes) StartAll(ctx context.Context) (client.Credentials, error) {
	all := p.Nodes()
	for _, node := range all {
		if err := p.Start(ctx, node.Name); err != nil {
			return client.Credentials{}, err
		}
	}
	credentials, err := p.awaitCredentials(ctx)
	if err != nil {
		return credentials, err
	}
	clients := map[string]*client.Client{}
	var names []string
	for _, node := range all {
		one, err := client.New(node.API, credentials)
		if err != nil {
			return credentials, err
		}
		defer one.Close()
		clients[node.Name] = one
		names = append(names, node.Name)
	}
	return credentials, AwaitReady(ctx, clients, names...)
}

// credentials reads the credentials that a node wrote to its data directory.
func (p *Processes) credentials(name string) (client.Credentials, error) {
	ca, err := os.ReadFile(filepath.Join(p.DataDir(name), "ca.crt"))
	if err != nil {
		return client.Credentials{}, err
	}
	token, err := os.ReadFile(filepath.Join(p.DataDir(name), "admin.token"))
	return client.Credentials{CA: ca, Token: strings.TrimSpace(string(token))}, err
}

// awaitCredentials waits until the first node has written its credentials.
func (p *Processes) awaitCredentials(ctx context.Context) (c client.Credentials, err error) {
	first := p.Nodes()[0].Name
	gone := func() bool { runs, err := p.Running(ctx, first); return !runs || err != nil }
	waited := Await(ctx, func() bool {
		c, err = p.credentials(first)
		return err == nil && c.Token != "" || gone()
	})
	if gone() {
		return c, fmt.Errorf("node %s ended: see %s", first, p.LogFile(first))
	}
	return c, errors.Join(waited, err)
}

// Shape implements Network.
func (p *Processes) Shape(_ context.Context, rules map[Link]Rule) error {
	if p.network == nil {
		return errors.New("the nodes are on loopback, and have no network to shape")
	}
	return p.network.Shape(rules)
}

// Precise implements Network. All rules are supported.
func (p *Processes) Precise() bool { return true }

// Close kills the remaining processes and removes the network and the disks. Data and logs remain,
// except data on these disks. Close must be called once, after all other calls.
func (p *Processes) Close(ctx context.Context) error {
	var errs []error
	for _, node := range p.Nodes() {
		errs = append(errs, p.Kill(ctx, node.Name))
	}
	errs = append(errs, p.release())
	for _, node := range p.Nodes() {
		<-p.Exited(node.Name) // release kills processes for which ctx left no time
	}
	return errors.Join(errs...)
}

// release frees what NewProcesses allocated.
func (p *Processes) release() error {
	var errs []error
	if p.network != nil {
		errs = append(errs, p.network.Close())
	}
	if p.thread != nil {
		p.thread.Close()
	}
	for _, one := range p.nodes {
		if one.disk != nil {
			errs = append(errs, one.disk.Close())
		}
	}
	return errors.Join(errs...)
}
