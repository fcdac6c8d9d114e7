package node

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"quorate/apiserver/access/auth"
	"quorate/cluster"
	"quorate/cmd/quorate/datadir"
	"quorate/cmd/quorate/kubeconfig"
	"quorate/raftstore/log"
)

const (
	adminUser = "admin"
	// mastersGroup may do everything.
	mastersGroup = "system:masters"
	// adminLifetime bounds the use of a leaked token. A running node replaces its own much earlier.
	adminLifetime = 30 * 24 * time.Hour
	adminRenewal  = 24 * time.Hour
	// addressCheck is the interval at which the members' addresses are compared with those in
	// admin.kubeconfig.
	addressCheck = 2 * time.Second
)

// localName is the name under which the API presents the cluster's certificate even if the operator
// supplied another.
const localName = "quorate.local"

// credentials writes the files for an operator on this machine: ca.crt, admin.token and
// admin.kubeconfig.
type credentials struct {
	logger *slog.Logger
	dir    *datadir.Dir
	name   string // of this node
	ca     []byte
	issuer *auth.Issuer
	server string // URL of the API, reachable from this machine
	// serverName is set if the certificate must be requested by name.
	serverName string
	// known returns the members and the addresses that this node knows.
	known func() []cluster.Member

	// nodes are the addresses of the members in admin.kubeconfig, this node's first. New and then
	// keepFresh own them.
	nodes []kubeconfig.Node
}

// load takes the members' addresses from the admin.kubeconfig of the previous start, so that those
// of members that are down now remain in it.
func (c *credentials) load() {
	path := c.dir.Path(datadir.KubeconfigFile)
	if _, err := os.Stat(path); err != nil {
		return // the first start
	}
	previous, err := kubeconfig.Read(path)
	if err != nil {
		c.logger.Warn("the addresses in the previous admin.kubeconfig are not readable; it is replaced", "error", err)
		return
	}
	c.nodes = previous.Others
}

func (c *credentials) write() error {
	token, err := c.issuer.Issue(auth.Identity{Name: adminUser, UID: adminUser, Groups: []string{mastersGroup}}, adminLifetime)
	if err != nil {
		return err
	}
	config, err := kubeconfig.Config{
		Server: c.server, CA: c.ca, ServerName: c.serverName, User: adminUser, Token: token, Others: c.nodes,
	}.Encode()
	if err != nil {
		return err
	}
	if err := c.dir.Write(datadir.CAFile, c.ca, 0o644); err != nil {
		return err
	}
	if err := c.dir.Write(datadir.TokenFile, []byte(token+"\n"), 0o600); err != nil {
		return err
	}
	return c.dir.Write(datadir.KubeconfigFile, config, 0o600)
}

// keepFresh replaces the token well before it expires, and the addresses when they change, until
// ctx ends.
func (c *credentials) keepFresh(ctx context.Context) error {
	renewal := time.NewTicker(adminRenewal)
	defer renewal.Stop()
	check := time.NewTicker(addressCheck)
	defer check.Stop()
	for failed := false; ; {
		renew := false
		select {
		case <-ctx.Done():
			return nil
		case <-renewal.C:
			renew = true
		case <-check.C:
		}
		nodes := c.addresses()
		if !renew && slices.Equal(nodes, c.nodes) {
			continue
		}
		previous := c.nodes
		c.nodes = nodes
		err := c.write()
		switch {
		case log.OutOfSpace(err):
			c.nodes = previous // so that the next check tries again
			if !failed {
				c.logger.Warn("the administrator's files are not renewed yet: the disk is full", "error", err)
			}
		case err != nil:
			return fmt.Errorf("renew the administrator's files: %w", err)
		}
		failed = err != nil
	}
}

// addresses returns the addresses of the members, this node's first. A member whose address is not
// known, since it is down, keeps the one that it had; before this node is a member, so do all.
func (c *credentials) addresses() []kubeconfig.Node {
	var nodes []kubeconfig.Node
	member := false
	for _, m := range c.known() {
		// Each node has the cluster's certificate under this name, whatever its address.
		n := kubeconfig.Node{Name: m.Name, Server: "https://" + m.APIAddr, ServerName: localName}
		if m.APIAddr == "" {
			i := slices.IndexFunc(c.nodes, func(n kubeconfig.Node) bool { return n.Name == m.Name })
			if i < 0 {
				continue
			}
			n = c.nodes[i]
		}
		if m.Name != c.name {
			nodes = append(nodes, n)
			continue
		}
		member = true
		nodes = slices.Insert(nodes, 0, n)
	}
	if !member {
		return c.nodes
	}
	return nodes
}
