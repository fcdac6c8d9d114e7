package servers

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// startTimeout bounds the wait for nodes to be ready.
const startTimeout = 90 * time.Second

// Quorate is a cluster of Quorate.
type Quorate struct {
	Cluster
	binary string
	dir    string
	dirs   []string
	flags  []string // of serve, the same for all nodes
	join   []string // gossip addresses
}

// StartQuorate starts count nodes with data below dir, and with further flags of serve, and waits
// until they are ready. The caller must call Stop.
func StartQuorate(ctx context.Context, binary, dir string, count int, flags ...string) (*Quorate, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	q := &Quorate{binary: binary, dir: dir, flags: flags}
	if err := q.prepare(dir, count); err != nil {
		return nil, err
	}
	if err := q.StartAll(ctx); err != nil {
		return nil, errors.Join(err, q.Stop())
	}
	return q, nil
}

// prepare sets the nodes without starting them.
func (q *Quorate) prepare(dir string, count int) error {
	ports, err := FreePorts(3 * count)
	if err != nil {
		return err
	}
	for i := range count {
		q.join = append(q.join, ports[3*i+2])
	}
	for i := range count {
		name := "n" + strconv.Itoa(i+1)
		data := filepath.Join(dir, name)
		args := []string{"serve", "--name", name, "--data-dir", data, "--api-addr", ports[3*i], "--peer-addr", ports[3*i+1], "--gossip-addr", q.join[i]}
		if count > 1 {
			args = append(args, "--bootstrap-expect", strconv.Itoa(count), "--join", strings.Join(q.join, ","),
				"--cluster-key-file", filepath.Join(dir, "n1", "cluster.key"))
		}
		args = append(args, q.flags...)
		q.dirs = append(q.dirs, data)
		q.Endpoints = append(q.Endpoints, "https://"+ports[3*i])
		q.Processes = append(q.Processes, &Process{Name: name, Binary: q.binary, Args: args, Log: data + ".log"})
	}
	q.CAFile, q.TokenFile = filepath.Join(q.dirs[0], "ca.crt"), filepath.Join(q.dirs[0], "admin.token")
	if count == 1 {
		return nil
	}
	return q.makeKey()
}

// Join starts a further node, without data, at a peer address of its own, with further flags of
// serve, and does not wait for it. Others dial the port of the peer address on the host that is
// advertised. Stop ends the node, too.
func (q *Quorate) Join(peerAddr, advertisedHost string, flags ...string) (*Process, error) {
	ports, err := FreePorts(2)
	if err != nil {
		return nil, err
	}
	name := "n" + strconv.Itoa(len(q.dirs)+1)
	data := filepath.Join(q.dir, name)
	args := append([]string{
		"serve", "--name", name, "--data-dir", data, "--api-addr", ports[0], "--gossip-addr", ports[1], "--peer-addr", peerAddr,
		"--advertise-host", advertisedHost, "--join", strings.Join(q.join, ","), "--cluster-key-file", filepath.Join(q.dirs[0], "cluster.key"),
	}, q.flags...)
	p := &Process{Name: name, Binary: q.binary, Args: append(args, flags...), Log: data + ".log"}
	q.dirs = append(q.dirs, data)
	q.Endpoints = append(q.Endpoints, "https://"+ports[0])
	q.Processes = append(q.Processes, p)
	return p, p.Start()
}

// JoinNonvoter starts a further node that never votes, and waits until it is ready.
func (q *Quorate) JoinNonvoter(ctx context.Context) error {
	ports, err := FreePorts(1)
	if err != nil {
		return err
	}
	p, err := q.Join(ports[0], "127.0.0.1", "--voter=false")
	if err != nil {
		return err
	}
	return q.awaitReady(ctx, p, q.dirs[len(q.dirs)-1])
}

// makeKey creates the cluster key at the place where the first node would.
func (q *Quorate) makeKey() error {
	key := make([]byte, 32)
	rand.Read(key)
	if err := os.MkdirAll(q.dirs[0], 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(q.dirs[0], "cluster.key"), []byte(base64.StdEncoding.EncodeToString(key)+"\n"), 0o600)
}

// StartAll starts the nodes, for the first time or after Stop, and waits until they are ready.
func (q *Quorate) StartAll(ctx context.Context) error {
	for _, p := range q.Processes {
		if err := p.Start(); err != nil {
			return err
		}
	}
	for i, p := range q.Processes {
		if err := q.awaitReady(ctx, p, q.dirs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (q *Quorate) awaitReady(ctx context.Context, p *Process, data string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, q.binary, "healthcheck", "--data-dir", data, "--wait", startTimeout.String()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("node %s: %w: %s\n%s", p.Name, err, out, p.LastLines(10))
	}
	return nil
}
