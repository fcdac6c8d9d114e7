package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"quorate/bench/servers"
	"quorate/bench/solo"
)

const (
	// peerStartTimeout bounds the start of three API servers on a busy machine.
	peerStartTimeout = 4 * time.Minute
	// readyPoll is how often a server is asked whether it is ready.
	readyPoll = 100 * time.Millisecond
	peerToken = "bench"
)

// startPeer starts count API servers with count members of etcd, with data below dir, and waits
// until they are ready. The caller must call Stop.
func startPeer(ctx context.Context, b binaries, dir string, count int) (*servers.Cluster, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	keys, err := writeKeyPair(dir)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	c := &servers.Cluster{CAFile: keys.certFile, TokenFile: filepath.Join(dir, "token")}
	users := filepath.Join(dir, "users.csv")
	err = errors.Join(os.WriteFile(c.TokenFile, []byte(peerToken+"\n"), 0o600),
		os.WriteFile(users, []byte(peerToken+",bench,1,system:masters\n"), 0o600))
	if err != nil {
		return nil, err
	}
	ports, err := servers.FreePorts(3 * count)
	if err != nil {
		return nil, err
	}
	clients := ports[:count]
	c.Processes = etcdMembers(b.Etcd, dir, keys, clients, ports[count:2*count])
	for i, address := range ports[2*count:] {
		c.Endpoints = append(c.Endpoints, "https://"+address)
		c.Processes = append(c.Processes, apiServer(b.APIServer, dir, keys, i, address, clients[i]))
	}
	if err := startAll(ctx, c); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// etcdMembers returns the processes of an etcd cluster.
func etcdMembers(binary, dir string, keys keyPair, clients, peers []string) (all []*servers.Process) {
	var members []string
	for i, address := range peers {
		members = append(members, fmt.Sprintf("e%d=https://%s", i+1, address))
	}
	for i := range clients {
		name := "e" + strconv.Itoa(i+1)
		data := filepath.Join(dir, name)
		client, peer := "https://"+clients[i], "https://"+peers[i]
		all = append(all, &servers.Process{Name: "etcd" + strconv.Itoa(i+1), Binary: binary, Log: data + ".log", Args: []string{
			"--name", name, "--data-dir", data,
			"--listen-client-urls", client, "--advertise-client-urls", client,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", strings.Join(members, ","),
			"--client-cert-auth", "--trusted-ca-file", keys.certFile, "--cert-file", keys.certFile, "--key-file", keys.keyFile,
			"--peer-client-cert-auth", "--peer-trusted-ca-file", keys.certFile, "--peer-cert-file", keys.certFile, "--peer-key-file", keys.keyFile,
		}})
	}
	return all
}

// apiServer returns the process of an API server that uses one member of etcd.
func apiServer(binary, dir string, keys keyPair, i int, address, etcd string) *servers.Process {
	name := "a" + strconv.Itoa(i+1)
	_, port, _ := strings.Cut(address, ":")
	return &servers.Process{Name: "kube-apiserver" + strconv.Itoa(i+1), Binary: binary, Log: filepath.Join(dir, name+".log"), Args: []string{
		"--bind-address", "127.0.0.1", "--secure-port", port,
		// It's only published; that of loopback is refused. Each server has its own, from the block for
		// documentation.
		"--advertise-address", "192.0.2." + strconv.Itoa(i+1),
		"--cert-dir", filepath.Join(dir, name), "--tls-cert-file", keys.certFile, "--tls-private-key-file", keys.keyFile,
		"--etcd-servers", "https://" + etcd, "--etcd-cafile", keys.certFile, "--etcd-certfile", keys.certFile, "--etcd-keyfile", keys.keyFile,
		"--service-account-issuer", "https://bench", "--service-account-key-file", keys.keyFile, "--service-account-signing-key-file", keys.keyFile,
		"--service-cluster-ip-range", "10.0.0.0/24", "--authorization-mode", "RBAC", "--token-auth-file", filepath.Join(dir, "users.csv"),
	}}
}

// startAll starts the processes, the members of etcd first, and waits until all API servers are
// ready.
func startAll(ctx context.Context, c *servers.Cluster) error {
	ctx, cancel := context.WithTimeout(ctx, peerStartTimeout)
	defer cancel()
	for _, p := range c.Processes {
		if err := p.Start(); err != nil {
			return err
		}
	}
	for i, url := range c.Endpoints {
		p := c.Processes[len(c.Processes)-len(c.Endpoints)+i]
		if err := awaitReady(ctx, url, p); err != nil {
			return err
		}
	}
	return nil
}

func awaitReady(ctx context.Context, url string, p *servers.Process) error {
	client := solo.NewClient(url, peerToken)
	defer client.Close()
	again := time.NewTicker(readyPoll)
	defer again.Stop()
	for {
		code, err := client.Do(ctx, http.MethodGet, "/readyz", "")
		if err == nil && code == http.StatusOK {
			return nil
		}
		if p.Ended() {
			return fmt.Errorf("%s ended:\n%s", p.Name, p.LastLines(10))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w (last answer %d, %v):\n%s", p.Name, ctx.Err(), code, err, p.LastLines(10))
		case <-again.C:
		}
	}
}
