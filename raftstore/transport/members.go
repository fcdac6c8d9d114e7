package transport

import (
	"context"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// memberRefresh is how often the addresses of members are resolved.
	memberRefresh = 10 * time.Second
	// lookupTimeout bounds the resolution of one host name.
	lookupTimeout = 2 * time.Second
	// maxLookups bounds the resolutions at a time.
	maxLookups = 8
)

// memberAddresses holds the addresses from which members connect: those that they advertise, and
// the one from which each connected last, which differs behind a NAT and on hosts with several
// addresses.
type memberAddresses struct {
	current func() map[string]string // names of members with their host:port; nil means no members
	metrics *metrics

	mu       sync.Mutex
	resolved map[string][]netip.Addr // guarded by mu; by name
	seen     map[string]netip.Addr   // guarded by mu; by name
}

func newMemberAddresses(current func() map[string]string, m *metrics) *memberAddresses {
	if current == nil {
		current = func() map[string]string { return nil }
	}
	return &memberAddresses{current: current, metrics: m, resolved: make(map[string][]netip.Addr), seen: make(map[string]netip.Addr)}
}

// contains reports whether a member is known to connect from addr.
func (a *memberAddresses) contains(addr netip.Addr) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, from := range a.seen {
		if from == addr {
			return true
		}
	}
	for _, of := range a.resolved {
		if slices.Contains(of, addr) {
			return true
		}
	}
	return false
}

// saw records the address from which a member has connected.
func (a *memberAddresses) saw(name string, addr netip.Addr) {
	if _, member := a.current()[name]; !member {
		return // a joining node connects again once it is a member
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[name] = addr
	a.metrics.memberAddresses.Set(float64(a.count()))
}

// run keeps the addresses up to date until ctx ends.
func (a *memberAddresses) run(ctx context.Context) {
	for ctx.Err() == nil {
		a.refresh(ctx)
		wait(ctx, memberRefresh)
	}
}

// refresh resolves the addresses of the present members and forgets those of others. A name that
// cannot be resolved now keeps the addresses that it had.
func (a *memberAddresses) refresh(ctx context.Context) {
	members := a.current()
	var lookups errgroup.Group
	lookups.SetLimit(maxLookups)
	for name, hostPort := range members {
		host, _, err := net.SplitHostPort(hostPort)
		if err != nil {
			continue // the member has not announced its address
		}
		lookups.Go(func() error {
			if found := lookup(ctx, host); found != nil {
				a.mu.Lock()
				defer a.mu.Unlock()
				a.resolved[name] = found
			}
			return nil
		})
	}
	_ = lookups.Wait() // no lookup returns an error
	a.mu.Lock()
	defer a.mu.Unlock()
	removed := func(name string) bool { _, member := members[name]; return !member }
	maps.DeleteFunc(a.resolved, func(name string, _ []netip.Addr) bool { return removed(name) })
	maps.DeleteFunc(a.seen, func(name string, _ netip.Addr) bool { return removed(name) })
	a.metrics.memberAddresses.Set(float64(a.count()))
}

// count returns the number of addresses; mu is held.
func (a *memberAddresses) count() int {
	n := len(a.seen)
	for _, of := range a.resolved {
		n += len(of)
	}
	return n
}

// lookup returns the addresses of a host, nil if they cannot be found now.
func lookup(ctx context.Context, host string) []netip.Addr {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap().WithZone("")}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	for i := range found {
		found[i] = found[i].Unmap().WithZone("")
	}
	return found
}
