package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// profileDelay is the time for the generator to prepare before the profile begins.
	profileDelay = 2 * time.Second
	profilePath  = "/debug/pprof/profile?seconds=6"
)

// record takes a CPU profile of a node until the function it returns is called.
func (b *bench) record(ctx context.Context, n *node, name string) (done func()) {
	name = strings.NewReplacer("-scenario", "", ",", "+", "/", "").Replace(name) + ".pprof"
	file := filepath.Join(b.profile, name)
	finished := make(chan error, 1)
	go func() { finished <- n.fetchProfile(ctx, file) }()
	return func() {
		if err := <-finished; err != nil {
			fmt.Fprintf(os.Stderr, "bench: profile %s: %v\n", name, err)
			return
		}
		fmt.Fprintf(os.Stderr, "bench: profile in %s\n", file)
	}
}

func (n *node) fetchProfile(ctx context.Context, file string) error {
	delay := time.NewTimer(profileDelay)
	defer delay.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-delay.C:
	}
	ca, err := os.ReadFile(filepath.Join(n.dir, "ca.crt"))
	if err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(n.dir, "admin.token"))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+n.api+profilePath, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %.200s", resp.Status, content)
	}
	return os.WriteFile(file, content, 0o644)
}
