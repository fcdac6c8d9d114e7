package servers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"quorate/bench/solo"
)

// Cluster is a cluster on this machine, with one process a node or several.
type Cluster struct {
	// Endpoints are the base URLs of the API, one a node.
	Endpoints []string
	// CAFile and TokenFile authenticate the servers and an administrator.
	CAFile, TokenFile string
	// Processes are those that serve, in the order of their start.
	Processes []*Process
}

// Stop ends the processes, the last one first. It may be called repeatedly.
func (c *Cluster) Stop() error {
	var errs []error
	for _, p := range slices.Backward(c.Processes) {
		errs = append(errs, p.Stop())
	}
	return errors.Join(errs...)
}

// PIDs returns the ids of the processes.
func (c *Cluster) PIDs() (all []int) {
	for _, p := range c.Processes {
		all = append(all, p.PID())
	}
	return all
}

// Client returns a client of a node, as an administrator, with connections of its own. Nodes count
// from 0.
func (c *Cluster) Client(node int) (*solo.Client, error) {
	token, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return nil, err
	}
	return solo.NewClient(c.Endpoints[node], strings.TrimSpace(string(token))), nil
}

// CPUTime returns the processor time that the processes have used.
func (c *Cluster) CPUTime() (total time.Duration, err error) {
	for _, p := range c.Processes {
		used, err := solo.ProcessorTime(p.PID())
		if err != nil {
			return 0, err
		}
		total += used
	}
	return total, nil
}

// FreePorts returns loopback addresses whose ports were free at the time of the call, for TCP and
// UDP.
func FreePorts(count int) ([]string, error) {
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
