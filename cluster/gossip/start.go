package gossip

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"strconv"
	"time"

	"github.com/hashicorp/memberlist"
)

const (
	// streamTimeout bounds an exchange with one node. With memberlist's own 10 s, a dead address
	// would delay the addresses after it.
	streamTimeout = 3 * time.Second
	// minStreamTimeout is what an exchange needs on a busy machine, whatever the scale.
	minStreamTimeout = time.Second
	// resolveAttempts bounds the wait for this node's own advertised name, a second apart: name
	// services may start late.
	resolveAttempts = 30
)

// start binds the gossip address and starts memberlist. stopped must be called once memberlist has
// been shut down, which waits until the connections that it has accepted are taken.
func (g *Gossip) start(ctx context.Context) (list *memberlist.Memberlist, stopped func(), err error) {
	bind, err := net.ResolveTCPAddr("tcp", g.cfg.Addr)
	if err != nil {
		return nil, nil, fmt.Errorf("gossip address %s: %w", g.cfg.Addr, err)
	}
	host := "0.0.0.0"
	if bind.IP != nil {
		host = bind.IP.String()
	}
	advertise, err := g.advertise(ctx, bind)
	if err != nil {
		return nil, nil, err
	}
	logger := log.New(newLogWriter(g), "", 0)
	inner, err := memberlist.NewNetTransport(&memberlist.NetTransportConfig{
		BindAddrs: []string{host}, BindPort: bind.Port, Logger: logger,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("listen on gossip address %s: %w", g.cfg.Addr, err)
	}
	cfg := g.profile()
	cfg.Name = g.cfg.Self.gossipName()
	outer := newTransport(ctx, g, inner)
	stopped = outer.start()
	cfg.Transport = outer
	cfg.BindAddr, cfg.BindPort = host, inner.GetAutoBindPort()
	cfg.AdvertiseAddr, cfg.AdvertisePort = advertise, inner.GetAutoBindPort()
	cfg.Logger = logger
	list, err = memberlist.Create(cfg)
	if err != nil {
		err = errors.Join(fmt.Errorf("start gossip: %w", err), inner.Shutdown())
		stopped()
		return nil, nil, err
	}
	return list, stopped, nil
}

// profile returns memberlist's configuration, its times scaled like Raft's.
func (g *Gossip) profile() *memberlist.Config {
	cfg := memberlist.DefaultLANConfig()
	if g.cfg.WAN {
		cfg = memberlist.DefaultWANConfig()
	}
	cfg.ProbeInterval = g.scaled(cfg.ProbeInterval)
	cfg.ProbeTimeout = g.scaled(cfg.ProbeTimeout)
	cfg.GossipInterval = g.scaled(cfg.GossipInterval)
	cfg.GossipToTheDeadTime = g.scaled(cfg.GossipToTheDeadTime)
	cfg.PushPullInterval = g.scaled(cfg.PushPullInterval)
	cfg.TCPTimeout = max(g.scaled(streamTimeout), minStreamTimeout)
	cfg.GossipVerifyIncoming, cfg.GossipVerifyOutgoing = true, true
	cfg.SecretKey = g.cfg.Key
	cfg.EnableCompression = false // the members of a cluster take a few hundred bytes
	d := delegate{g}
	cfg.Delegate, cfg.Events, cfg.Alive, cfg.Merge = d, d, d, d
	return cfg
}

// advertise returns the IP address that others dial. If it is "", memberlist advertises the bound
// address, or a private one of the machine.
func (g *Gossip) advertise(ctx context.Context, bind *net.TCPAddr) (string, error) {
	host := g.cfg.AdvertiseHost
	if host == "" {
		if bind.IP != nil && bind.IP.IsUnspecified() && bind.IP.To4() == nil {
			return "", fmt.Errorf("gossip address %s has no host that others can dial: set an advertise host", g.cfg.Addr)
		}
		return "", nil
	}
	for attempt := 1; ; attempt++ {
		addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err == nil && len(addrs) > 0 {
			return addrs[0].Unmap().String(), nil
		}
		if attempt == resolveAttempts {
			return "", fmt.Errorf("look up the advertise host %s: %w", host, err)
		}
		g.cfg.Logger.Info("waiting for the advertise host to resolve", "host", host, "reason", err)
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// resolve looks an address up each time: the addresses of a name may have changed.
func resolve(ctx context.Context, addr string) ([]string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, fmt.Errorf("port %q is not a number", port)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	found := make([]string, 0, len(ips))
	for _, ip := range ips {
		found = append(found, net.JoinHostPort(ip.Unmap().String(), port))
	}
	return found, nil
}
