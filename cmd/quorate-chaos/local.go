package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/disk"
	"quorate/chaos/network"
	"quorate/chaos/nodes"
)

const defaultBinary = "bin/quorate"

// readyTimeout bounds how long the nodes may take to form a cluster.
const readyTimeout = 2 * time.Minute

// local holds the flags for a cluster of processes on this machine.
type local struct {
	binary     string
	dir        string
	count      int
	serveFlags string
	plain      bool
	testBuild  bool
}

func (l *local) flags(set *flag.FlagSet) {
	set.StringVar(&l.binary, "binary", defaultBinary, "local processes: the server; nodes given by --members: what runs the operator's commands here")
	set.StringVar(&l.dir, "dir", "", "local processes: directory of data and logs (default: a temporary one, kept when the run fails)")
	set.IntVar(&l.count, "nodes", 3, "local processes: number of nodes")
	set.StringVar(&l.serveFlags, "serve-flags", "", "local processes: further flags of serve, separated by spaces")
	set.BoolVar(&l.testBuild, "failpoints", false, "local processes: the server was built with failpoints and an adjustable clock (make failpoints)")
	set.BoolVar(&l.plain, "plain", false, "local processes: no faults of networks and disks, which need root and Linux")
}

// fleet is a ready cluster and the function that ends it.
type fleet struct {
	nodes.Fleet
	credentials client.Credentials
	close       func(held bool) error
}

// built returns the path of the binary, or an error if it does not exist.
func (l *local) built() (path string, err error) {
	path, err = filepath.Abs(l.binary)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("--binary: %w: build it with make build", err)
	}
	return path, nil
}

// start starts the processes and waits until they have formed a cluster.
func (l *local) start(ctx context.Context, seed uint64, log *slog.Logger) (*fleet, error) {
	binary, err := l.built()
	if err != nil {
		return nil, err
	}
	dir := l.dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "quorate-chaos-"); err != nil {
			return nil, err
		}
	}
	config := nodes.ProcessesConfig{
		Binary: binary, Dir: dir, Count: l.count, Flags: strings.Fields(l.serveFlags), Seed: seed, Log: log,
		TestBuild: l.testBuild,
	}
	l.surround(&config, log)
	processes, err := nodes.NewProcesses(config)
	if err != nil {
		return nil, err
	}
	f := &fleet{Fleet: processes, close: func(held bool) error {
		err := processes.Close(context.Background())
		if l.dir != "" {
			return err
		}
		if !held {
			log.Warn("data and logs are kept", "dir", dir)
			return err
		}
		return errors.Join(err, os.RemoveAll(dir))
	}}
	log.Info("start nodes", "count", l.count, "dir", dir)
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if f.credentials, err = processes.StartAll(ctx); err != nil {
		return nil, errors.Join(err, f.close(false))
	}
	return f, nil
}

// surround sets up networks and disks that can fail for the nodes, as far as this machine permits.
func (l *local) surround(c *nodes.ProcessesConfig, log *slog.Logger) {
	if l.plain {
		return
	}
	if err := network.Available(); err != nil {
		log.Warn("nodes are on loopback: no faults of the network", "why", err)
	} else {
		c.Network = true
	}
	if err := disk.Available(); err != nil {
		log.Warn("nodes are on plain disks: no faults of those", "why", err)
	} else {
		c.Disks = true
	}
}
