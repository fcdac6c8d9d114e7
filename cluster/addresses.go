package cluster

import (
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/raft"

	"quorate/cluster/gossip"
	"quorate/cluster/internal/durable"
	"quorate/cluster/voters"
)

const (
	// addressesFile is the name of the file in the data directory.
	addressesFile = "gossip.json"
	// maxAddresses bounds the remembered addresses; those of former members are forgotten first.
	maxAddresses = 64
)

// addressDocument is DATA/gossip.json.
type addressDocument struct {
	Cluster   string   `json:"cluster"`
	Addresses []string `json:"addresses"` // host:port, of the members known last
}

// addresses remembers the gossip addresses of the members of this node's cluster, so that the node
// finds them after a restart, also if its --join addresses lead nowhere. The file is only an aid: a
// damaged one, or that of another cluster, is ignored. All methods are safe for concurrent use.
type addresses struct {
	path string

	mu  sync.Mutex
	doc addressDocument // guarded by mu; the slice is replaced, never changed
}

// openAddresses reads the file in a data directory. cluster is the cluster that this node belongs
// to, "" if it belongs to none.
func openAddresses(dataDir, cluster string, logger *slog.Logger) *addresses {
	a := &addresses{path: filepath.Join(dataDir, addressesFile)}
	doc, err := readAddresses(a.path, cluster)
	if err != nil {
		logger.Warn("ignoring the remembered gossip addresses; the next change replaces them", "file", a.path, "reason", err)
		return a
	}
	a.doc = doc
	return a
}

func readAddresses(path, cluster string) (addressDocument, error) {
	var doc addressDocument
	if found, err := durable.Read(path, &doc); err != nil || !found {
		return addressDocument{}, err
	}
	if doc.Cluster != cluster {
		return addressDocument{}, fmt.Errorf("they are of cluster %q, and this node belongs to cluster %q", doc.Cluster, cluster)
	}
	if len(doc.Addresses) > maxAddresses {
		return addressDocument{}, fmt.Errorf("there are %d, more than %d", len(doc.Addresses), maxAddresses)
	}
	for _, addr := range doc.Addresses {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return addressDocument{}, fmt.Errorf("address %q: want host:port", addr)
		}
	}
	return doc, nil
}

// list returns the remembered addresses, which the caller must not change.
func (a *addresses) list() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.doc.Addresses
}

// remember replaces the addresses by those of the members that gossip knows. While it does not know
// all servers of the configuration, other addresses stay, since one of them may be the missing
// server's. It writes the file if that changes anything.
func (a *addresses) remember(cluster string, known []string, complete bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := slices.Clone(known)
	if a.doc.Cluster == cluster && !complete {
		for _, addr := range a.doc.Addresses {
			if !slices.Contains(next, addr) {
				next = append(next, addr)
			}
		}
	}
	next = next[:min(len(next), maxAddresses)]
	slices.Sort(next)
	if a.doc.Cluster == cluster && slices.Equal(a.doc.Addresses, next) {
		return nil
	}
	doc := addressDocument{Cluster: cluster, Addresses: next}
	if err := durable.Write(a.path, doc); err != nil {
		return fmt.Errorf("remember the gossip addresses of the members: %w", err)
	}
	a.doc = doc
	return nil
}

// rememberAddresses updates the file by what gossip knows of the cluster.
func (c *Cluster) rememberAddresses(cluster string, members []gossip.Member) error {
	var known []string
	servers := c.cfg.Store.Servers()
	for _, m := range members {
		if m.Cluster != cluster || m.GossipAddr == "" {
			continue
		}
		// A member that is known to have left is remembered only while the configuration has it.
		if m.Alive && !m.Leaving || voters.Configures(servers, m.Name) {
			known = append(known, m.GossipAddr)
		}
	}
	complete := !slices.ContainsFunc(servers, func(s raft.Server) bool {
		return string(s.ID) != c.self.Name &&
			!slices.ContainsFunc(members, func(m gossip.Member) bool { return m.Name == string(s.ID) })
	})
	return c.addresses.remember(cluster, known, complete)
}
