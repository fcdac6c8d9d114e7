package nodes

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"quorate/chaos/disk"
	"quorate/chaos/failpoint"
	"quorate/chaos/network"
)

// Ports of nodes that have their own hosts.
const (
	apiPort       = 6443
	peerPort      = 7443
	gossipPort    = 7946
	failpointPort = 7070
)

// Ports of nodes on loopback. They are below the range that operating systems use for outgoing
// connections, because such a connection could take the port of a node that is down.
const (
	lowestPort  = 12_000
	highestPort = 32_767
	// portAttempts is the maximum number of attempts to find free ports.
	portAttempts = 1000
)

// process is one node of the fleet. Its fields that change are guarded by the fleet's mu.
type process struct {
	node              Node
	api, peer, gossip string // HOST:PORT
	failpoints        string // HOST:PORT
	founder           bool   // one of the initial nodes, which wait for each other to form the cluster
	voter             bool
	host              *network.Host // nil if on loopback
	disk              *disk.Disk    // nil if it does not have its own disk

	armed   map[string]string // terms by failpoint
	current *lifetime         // nil if not started, or ended by order
}

// newProcess names a node and allocates what is configured for it. The caller must hold mu, or be
// the only user of the fleet.
func (p *Processes) newProcess(voter bool) (*process, error) {
	p.named++
	one := &process{node: Node{Name: "n" + strconv.Itoa(p.named)}, voter: voter, armed: map[string]string{}}
	if err := p.setAddresses(one); err != nil {
		return nil, fmt.Errorf("prepare node %s: %w", one.node.Name, err)
	}
	if err := p.makeData(one); err != nil {
		if one.host != nil {
			err = errors.Join(err, p.network.Remove(one.node.Name))
		}
		return nil, fmt.Errorf("prepare node %s: %w", one.node.Name, err)
	}
	return one, nil
}

// makeData creates a node's data directory and the files beside it.
func (p *Processes) makeData(one *process) error {
	data := p.DataDir(one.node.Name)
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	if p.c.TestBuild {
		if err := failpoint.WriteClock(p.clockFile(one.node.Name), 0); err != nil {
			return err
		}
	}
	if !p.c.Disks {
		return nil
	}
	var err error
	one.disk, err = disk.Mount(data, data+".disk", p.c.Log.With("node", one.node.Name))
	return err
}

// setAddresses gives a node its own host or ports on loopback.
func (p *Processes) setAddresses(one *process) error {
	if p.network != nil {
		host, err := p.network.Add(one.node.Name)
		if err != nil {
			return err
		}
		one.host = host
		at := func(port int) string { return net.JoinHostPort(host.Address().String(), strconv.Itoa(port)) }
		one.api, one.peer, one.gossip, one.failpoints = at(apiPort), at(peerPort), at(gossipPort), at(failpointPort)
	} else {
		ports, err := p.freePorts(4)
		if err != nil {
			return err
		}
		one.api, one.peer, one.gossip, one.failpoints = loopback(ports[0]), loopback(ports[1]), loopback(ports[2]), loopback(ports[3])
	}
	one.node.API = "https://" + one.api
	return nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePorts returns ports that are currently free for both TCP and UDP and that no other node of
// the fleet uses.
func (p *Processes) freePorts(count int) (ports []int, err error) {
	taken := map[string]bool{}
	for _, one := range p.nodes {
		for _, address := range []string{one.api, one.peer, one.gossip, one.failpoints} {
			taken[address] = true
		}
	}
	for range portAttempts {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		if taken[loopback(port)] {
			continue
		}
		if err = free(port); err != nil {
			continue // used by another process: try another port
		}
		taken[loopback(port)] = true
		if ports = append(ports, port); len(ports) == count {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("no free ports on loopback: %w", err)
}

func free(port int) error {
	tcp, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return err
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", loopback(port))
	if err != nil {
		return err
	}
	return udp.Close()
}

// args returns the arguments of `serve`. The caller must hold mu.
func (p *Processes) args(one *process) []string {
	args := []string{
		"serve", "--name", one.node.Name,
		"--data-dir", p.DataDir(one.node.Name),
		"--api-addr", one.api,
		"--peer-addr", one.peer,
		"--gossip-addr", one.gossip,
		"--cluster-key-file", p.keyFile,
	}
	if one.founder {
		args = append(args, "--bootstrap-expect", strconv.Itoa(p.c.Count))
	}
	if !one.voter {
		args = append(args, "--voter=false")
	}
	if p.c.Count > 1 || !one.founder { // with --join, a node waits for others
		var gossip []string
		for _, other := range p.nodes {
			gossip = append(gossip, other.gossip)
		}
		args = append(args, "--join", strings.Join(gossip, ","))
	}
	return append(args, p.c.Flags...)
}

// env returns a node's environment. The caller must hold mu.
func (p *Processes) env(one *process) ([]string, error) {
	env := append(os.Environ(), p.c.Env...)
	if !p.c.TestBuild {
		return env, nil
	}
	armed, err := failpoint.Env(one.failpoints, one.armed)
	return append(append(env, failpoint.ClockEnv(p.clockFile(one.node.Name))), armed...), err
}

// clockFile returns the file with the offset of a node's clock. It is not in the data directory,
// which may be wiped.
func (p *Processes) clockFile(name string) string { return filepath.Join(p.c.Dir, name+".clock") }
