//go:build alerts

package deploy_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

// requestsRefused lets a user send more requests at a time than the seats and queues of its level
// hold, and then gives the level a greater share, as the runbook says.
func requestsRefused(t *testing.T, m *measurements) {
	levels := filepath.Join(t.TempDir(), "levels.yaml")
	writeLevels(t, levels, 1, 1)
	w := watch(t, m, nodes.ProcessesConfig{Count: 1, Flags: []string{"--max-requests", "100", "--fairness-file", levels}})
	w.create("clusterroles", `"metadata":{"name":"reader"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]}]`)
	w.bind("reader", "tenant")
	one, err := client.New(w.Nodes()[0].API, w.tokenOf("tenant"))
	w.must(err)
	t.Cleanup(one.Close)
	_, _, err = w.clients["n1"].Create(w.fleet.ctx, namespace, "a", map[string]string{"a": "b"})
	w.must(err)

	w.inject("a user sends 50 gets at a time, with one seat")
	served := w.flood(one, 50)
	w.fires(expected{"QuorateRequestsRefused", map[string]string{"level": "tenants"}})
	w.repair()
	writeLevels(t, levels, 100, 256)
	w.clears("QuorateRequestsRefused")
	before := served.Load()
	w.await("the user is still served", func() bool { return served.Load() > before+100 })
}

// writeLevels writes the priority levels of the node. Those of the user "tenant" are given.
func writeLevels(t *testing.T, path string, share, queue int) {
	t.Helper()
	write(t, path+".new", fmt.Sprintf(`levels:
- {name: system, share: 50, match: [{groups: ["system:masters", "system:nodes"]}]}
- {name: tenants, share: %d, queueLength: %d, match: [{users: [tenant]}]}
- {name: others, share: 50}
`, share, queue))
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// flood gets the object "a" so many times at once until the test ends, and counts the answers that
// are not refusals.
func (w *watched) flood(one *client.Client, concurrency int) (served *atomic.Int64) {
	ctx, cancel := context.WithCancel(w.fleet.ctx)
	served = &atomic.Int64{}
	var group sync.WaitGroup
	for i := range concurrency {
		group.Go(func() {
			for ctx.Err() == nil {
				if _, outcome, _ := one.Lane(i).Get(ctx, namespace, "a"); outcome == client.OK {
					served.Add(1)
				}
				wait(ctx, 5*time.Millisecond)
			}
		})
	}
	w.fleet.t.Cleanup(func() { cancel(); group.Wait() })
	return served
}

// certificateExpires serves a certificate that ends in a week, and replaces it by one that ends in a
// year.
func certificateExpires(t *testing.T, m *measurements) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	writeCertificate(t, cert, key, 7*24*time.Hour)
	tokens := write(t, filepath.Join(dir, "tokens"), "secret,admin,1,\"system:masters\"\n")
	if err := os.Chmod(tokens, 0o600); err != nil {
		t.Fatal(err)
	}
	f := prepareFleet(t, faultPatience, nodes.ProcessesConfig{Count: 1, Flags: []string{"--tls-cert-file", cert, "--tls-key-file", key, "--token-file", tokens}})
	f.must(f.Start(f.ctx, "n1"))
	p := startPrometheus(f.ctx, t, prometheusConfig{
		nodes: f.Nodes(), credentials: client.Credentials{Token: "secret"}, rules: readRules(t).shortened(t, shortening), interval: interval,
	})
	w := &watched{fleet: f, prometheus: p, measured: m}
	w.inject("the certificate ends in a week")
	w.fires(expected{"QuorateCertificateExpires", nil})
	w.repair()
	writeCertificate(t, cert, key, 365*24*time.Hour)
	w.clears("QuorateCertificateExpires")
}

// writeCertificate writes a new certificate for loopback, signed by itself, and its key.
func writeCertificate(t *testing.T, cert, key string, lifetime time.Duration) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "n1"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{key: {Type: "PRIVATE KEY", Bytes: keyDER}, cert: {Type: "CERTIFICATE", Bytes: der}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
