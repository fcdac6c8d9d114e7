package network

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"sync"
)

// maxHosts bounds the hosts at a time, Clients included.
const maxHosts = 254

// Network is a virtual network.
type Network struct {
	log         *slog.Logger
	seed        uint64
	subnet      netip.Prefix
	reservation io.Closer // makes the subnet this network's
	clock       *clock
	closing     chan struct{}
	running     sync.WaitGroup

	mu    sync.Mutex
	hosts map[string]*Host // guarded by mu
	links map[Link]*link   // guarded by mu
	rules map[Link]Rule    // guarded by mu: also for hosts that are yet to come
	last  byte             // of the address that was given last; guarded by mu
}

// Available returns the reason why there can't be a virtual network in this process, or nil.
func Available() error {
	if os.Geteuid() != 0 {
		return errors.New("a virtual network takes root")
	}
	n, err := New(0, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	_, err = n.Add("probe")
	return errors.Join(err, n.Close())
}

// New creates a network whose only host is Clients. The seed determines which packets are affected
// by rules that affect a fraction of them.
func New(seed uint64, log *slog.Logger) (*Network, error) {
	subnet, held, err := reserve()
	if err != nil {
		return nil, err
	}
	n := &Network{
		log: log, seed: seed, subnet: subnet, reservation: held, clock: newClock(), closing: make(chan struct{}),
		hosts: map[string]*Host{}, links: map[Link]*link{},
	}
	alarm, err := newAlarm()
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	n.running.Go(func() {
		if err := n.clock.run(alarm, n.closing); err != nil {
			log.Error("delayed packets are no longer delivered", "error", err)
		}
	})
	if _, err := n.Add(Clients); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// Subnet is the network's own.
func (n *Network) Subnet() netip.Prefix { return n.subnet }

// Add adds a host. Its name must be new.
func (n *Network) Add(name string) (*Host, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hosts[name] != nil {
		return nil, fmt.Errorf("host %s is there already", name)
	}
	if len(n.hosts) == maxHosts {
		return nil, fmt.Errorf("a network has no more than %d hosts", maxHosts)
	}
	h, err := newHost(name, netip.PrefixFrom(n.address(), n.subnet.Bits()))
	if err != nil {
		return nil, err
	}
	for _, other := range n.hosts {
		n.connect(h, other)
		n.connect(other, h)
	}
	n.hosts[name] = h
	n.running.Go(func() {
		if err := h.forward(n.subnet); err != nil {
			n.log.Error("a host of the virtual network is cut off", "host", name, "error", err)
		}
	})
	return h, nil
}

// address returns the next unused address. Addresses of removed hosts are reused as late as
// possible.
func (n *Network) address() netip.Addr {
	used := map[byte]bool{}
	for _, h := range n.hosts {
		used[h.address.As4()[3]] = true
	}
	for {
		n.last = n.last%maxHosts + 1
		if !used[n.last] {
			bytes := n.subnet.Addr().As4()
			bytes[3] = n.last
			return netip.AddrFrom4(bytes)
		}
	}
}

// Remove removes a host from the network and kills the processes on it.
func (n *Network) Remove(name string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := n.hosts[name]
	if h == nil || name == Clients {
		return fmt.Errorf("there is no host %s to remove", name)
	}
	delete(n.hosts, name)
	for _, other := range n.hosts {
		other.links[h.address.As4()[3]].Store(nil)
		n.disconnect(Link{From: name, To: other.name})
		n.disconnect(Link{From: other.name, To: name})
	}
	return h.close()
}

// disconnect removes a link and the packets in flight on it.
func (n *Network) disconnect(name Link) {
	n.links[name].shape(Rule{Drop: true})
	delete(n.links, name)
}

// connect makes the link from one host to another.
func (n *Network) connect(from, to *Host) {
	name := Link{From: from.name, To: to.name}
	stream := fnv.New64a()
	stream.Write([]byte(name.String())) // never fails
	l := &link{Link: name, to: to.device, later: n.clock, random: rand.New(rand.NewPCG(n.seed, stream.Sum64()))}
	l.shape(n.rules[name])
	n.links[name] = l
	from.links[to.address.As4()[3]].Store(l)
}

// Shape sets the rules of all links; unnamed links are good, and nil heals everything. Rules for
// hosts that do not exist yet apply once they do.
func (n *Network) Shape(rules map[Link]Rule) error {
	for link, rule := range rules {
		if err := rule.Validate(); err != nil {
			return fmt.Errorf("link %s: %w", link, err)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rules = rules
	for name, l := range n.links {
		l.shape(rules[name])
	}
	return nil
}

// Counters returns the counters of each link.
func (n *Network) Counters() map[Link]Counters {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[Link]Counters{}
	for name, l := range n.links {
		all[name] = l.counters()
	}
	return all
}

// Close closes the network and kills the processes on its hosts. It must be called once.
func (n *Network) Close() error {
	close(n.closing)
	n.mu.Lock()
	var errs []error
	for _, h := range n.hosts {
		errs = append(errs, h.close())
	}
	n.mu.Unlock()
	n.running.Wait()
	return errors.Join(append(errs, n.reservation.Close())...)
}
