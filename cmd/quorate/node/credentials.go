package node

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"quorate/apiserver/access/auth"
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
)

// localName is the name under which the API presents the cluster's certificate even if the operator
// supplied another.
const localName = "quorate.local"

// credentials writes the files for an operator on this machine: ca.crt, admin.token and
// admin.kubeconfig.
type credentials struct {
	logger *slog.Logger
	dir    *datadir.Dir
	ca     []byte
	issuer *auth.Issuer
	server string // URL of the API, reachable from this machine
	// serverName is set if the certificate must be requested by name.
	serverName string
}

func (c *credentials) write() error {
	token, err := c.issuer.Issue(auth.Identity{Name: adminUser, UID: adminUser, Groups: []string{mastersGroup}}, adminLifetime)
	if err != nil {
		return err
	}
	config, err := kubeconfig.Config{Server: c.server, CA: c.ca, ServerName: c.serverName, User: adminUser, Token: token}.Encode()
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

// keepFresh replaces the token well before it expires, until ctx ends.
func (c *credentials) keepFresh(ctx context.Context) error {
	renewal := time.NewTicker(adminRenewal)
	defer renewal.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-renewal.C:
			err := c.write()
			if log.OutOfSpace(err) {
				c.logger.Warn("the admin token is not renewed yet: the disk is full", "error", err)
				continue
			}
			if err != nil {
				return fmt.Errorf("renew the admin token: %w", err)
			}
		}
	}
}
