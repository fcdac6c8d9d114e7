package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sync/errgroup"

	"quorate/chaos/nodes"
)

// controllers are those of kube-controller-manager that run beside the server, which collects
// garbage and empties namespaces itself. Others need kinds that the server does not have.
const controllers = "deployment-controller,replicaset-controller,replicationcontroller-controller,job-controller," +
	"cronjob-controller,serviceaccount-controller,root-ca-certificate-publisher-controller"

// beside are programs that run beside a cluster while its tests do. The caller must call end.
type beside struct {
	runner
	work   string
	ctx    context.Context
	cancel context.CancelFunc
	group  errgroup.Group
}

func (r runner) beside(ctx context.Context, work string) *beside {
	ctx, cancel := context.WithCancel(ctx)
	return &beside{runner: r, work: work, ctx: ctx, cancel: cancel}
}

// controllers starts controllers for the cluster.
func (b *beside) controllers(fleet *nodes.Processes) {
	b.start("kube-controller-manager", "--kubeconfig", kubeconfig(fleet), "--controllers", controllers,
		"--root-ca-file", filepath.Join(fleet.DataDir(fleet.Nodes()[0].Name), "ca.crt"),
		"--leader-elect=false", "--secure-port", "0", "--kube-api-qps", "200", "--kube-api-burst", "400")
}

// node starts the command node, which runs pods and writes the table of hosts.
func (b *beside) node(fleet *nodes.Processes, hosts string) {
	b.start("node", "-kubeconfig", kubeconfig(fleet), "-hosts", hosts, "-dir", b.work)
}

// start starts a program that runs until end.
func (b *beside) start(name string, args ...string) {
	b.group.Go(func() error {
		err := b.execute(b.ctx, besideTimeout, filepath.Join(b.work, name+".log"), nil, filepath.Join(b.bin, name), args...)
		if b.ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("%s ended while tests ran: %w", name, errors.Join(err, os.ErrProcessDone))
	})
}

// end ends all programs.
func (b *beside) end() error {
	b.cancel()
	return b.group.Wait()
}

// kubeconfig returns the file for the administrator of the first node.
func kubeconfig(fleet *nodes.Processes) string {
	return filepath.Join(fleet.DataDir(fleet.Nodes()[0].Name), "admin.kubeconfig")
}

// withHosts runs a server with a table of hosts of its own, which needs no rights but those of a
// user's own namespace.
const withHosts = `#!/bin/sh
# The server with the table of hosts beside it, for the names of services.
exec unshare %s --mount sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' %s %s "$@"
`

// serverWithHosts writes a script that runs the server, and its table of hosts.
func (r runner) serverWithHosts(work string) (server, hosts string, err error) {
	server, hosts = filepath.Join(work, "server.sh"), filepath.Join(work, "hosts")
	if err := os.WriteFile(hosts, []byte("127.0.0.1 localhost\n"), 0o644); err != nil {
		return "", "", err
	}
	user := ""
	if os.Geteuid() != 0 {
		user = "--map-root-user"
	}
	script := fmt.Sprintf(withHosts, user, strconv.Quote(hosts), strconv.Quote(r.server))
	return server, hosts, os.WriteFile(server, []byte(script), 0o755)
}
