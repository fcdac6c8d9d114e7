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
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/disk"
	"quorate/chaos/failpoint"
	"quorate/chaos/nodes"
	"quorate/raftstore/smalldisk"
)

// These tests let alerts fire and clear by real faults: make alerts.

// faultPatience is the time limit of each of them.
const faultPatience = 20 * time.Minute

// watched is a cluster that a Prometheus watches with the shortened rules.
type watched struct {
	*fleet
	*prometheus
}

// watch starts a cluster and a Prometheus.
func watch(t *testing.T, c nodes.ProcessesConfig) watched {
	t.Helper()
	program(t, "prometheus")
	f := startFleet(t, faultPatience, c)
	f.use()
	p := startPrometheus(f.ctx, t, prometheusConfig{
		nodes: f.Nodes(), credentials: f.monitoring(), rules: readRules(t).shortened(t, shortening), interval: interval,
	})
	p.awaitScrapes(c.Count)
	p.awaitHealthyRules()
	return watched{f, p}
}

// keepWriting creates objects at one node after another until the test ends or the function that it
// returns is called. Writes may fail: nodes are at fault.
func (w watched) keepWriting() (stop func()) {
	ctx, cancel := context.WithCancel(w.fleet.ctx)
	var group sync.WaitGroup
	for name, one := range w.clients {
		group.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				call, done := context.WithTimeout(ctx, 5*time.Second)
				_, _, _ = one.Create(call, namespace, fmt.Sprintf("%s-%d", name, i), map[string]string{"a": "b"})
				done()
				wait(ctx, 20*time.Millisecond)
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); group.Wait() })
	w.fleet.t.Cleanup(stop)
	return stop
}

// wait spaces requests.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// instance returns the label of a node's own alerts.
func (w watched) instance(name string) map[string]string {
	for _, node := range w.Nodes() {
		if node.Name == name {
			return map[string]string{"instance": node.API[len("https://"):]}
		}
	}
	w.fleet.t.Fatalf("there is no node %s", name)
	return nil
}

// TestFaultsDeathAtTheShippedInterval measures how soon the rules as they are shipped report a dead
// node.
func TestFaultsDeathAtTheShippedInterval(t *testing.T) {
	program(t, "prometheus")
	f := startFleet(t, faultPatience, nodes.ProcessesConfig{Count: 3})
	p := startPrometheus(f.ctx, t, prometheusConfig{nodes: f.Nodes(), credentials: f.monitoring(), rules: readRules(t), interval: shipped})
	p.awaitScrapes(3)
	leader, _ := f.leader()
	f.must(f.Kill(f.ctx, leader))
	begin := time.Now()
	p.awaitFiring("QuorateNodeDown", map[string]string{"member": leader})
	if took := time.Since(begin); took > 90*time.Second {
		t.Errorf("the alert took %s, want about a minute", took)
	}
}

func TestFaultsNoQuorum(t *testing.T) {
	w := watch(t, nodes.ProcessesConfig{Count: 3})
	w.keepWriting()
	for _, name := range []string{"n2", "n3"} {
		w.must(w.Kill(w.fleet.ctx, name))
	}
	dead := []string{"n2", "n3"}
	w.awaitFiring("QuorateNoLeader", nil)
	for _, name := range dead {
		w.awaitFiring("QuorateNodeDown", map[string]string{"member": name})
		w.awaitFiring("QuorateNotScraped", w.instance(name))
	}
	w.awaitFiring("QuorateNotReady", w.instance("n1"))
	w.awaitFiring("QuorateFewVoters", nil)
	w.awaitFiring("QuorateErrors", w.instance("n1"))
	for _, name := range dead {
		w.must(w.Start(w.fleet.ctx, name))
	}
	w.awaitCleared("QuorateNoLeader", nil)
	for _, name := range []string{"QuorateNodeDown", "QuorateNotScraped", "QuorateNotReady", "QuorateFewVoters", "QuorateErrors"} {
		w.awaitCleared(name, nil)
	}
}

func TestFaultsSlowFollower(t *testing.T) {
	w := watch(t, nodes.ProcessesConfig{Count: 3, Binary: buildWithFailpoints(t), TestBuild: true})
	w.keepWriting()
	_, others := w.leader()
	slow := others[0]
	w.must(w.Arm(w.fleet.ctx, slow, "applyBefore", "sleep(15000)"))
	w.awaitFiring("QuorateLag", w.instance(slow))
	w.must(w.Arm(w.fleet.ctx, slow, "applyBefore", ""))
	w.awaitCleared("QuorateLag", nil)
}

// buildWithFailpoints returns a server with failpoints.
func buildWithFailpoints(t *testing.T) string {
	t.Helper()
	binary, err := failpoint.Build(t.Context(), t.TempDir(), failpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

func TestFaultsSlowAndHangingDisk(t *testing.T) {
	w := watch(t, nodes.ProcessesConfig{Count: 3, Disks: true})
	w.keepWriting()
	leader, _ := w.leader()
	slow := w.Disk(leader)
	slow.Set(disk.Faults{FsyncDelay: 1500 * time.Millisecond})
	w.awaitFiring("QuorateDiskSlow", w.instance(leader))
	w.awaitFiring("QuorateHighLatency", nil)
	slow.Set(disk.Faults{})
	w.awaitCleared("QuorateDiskSlow", nil)
	w.awaitCleared("QuorateHighLatency", nil)

	leader, _ = w.leader()
	w.Disk(leader).Set(disk.Faults{HangFsync: true})
	w.awaitFiring("QuorateDiskStalled", w.instance(leader))
	w.Disk(leader).Set(disk.Faults{})
	w.awaitCleared("QuorateDiskStalled", nil)
}

// TestFaultsFullDisks fills the disk that all nodes share, and that their logs are on.
func TestFaultsFullDisks(t *testing.T) {
	shared := smalldisk.New(t, 256<<20)
	w := watch(t, nodes.ProcessesConfig{Count: 3, Dir: shared.Dir, Flags: append(auditFlags(t), "--request-log", "all")})
	w.keepWriting()
	shared.Fill(40 << 20) // within the reserve of a quarter
	for _, node := range w.Nodes() {
		w.awaitFiring("QuorateNoSpace", w.instance(node.Name))
	}
	w.awaitFiring("QuorateReadOnly", nil)
	w.awaitFiring("QuorateDiskFilling", nil)
	shared.Clear()
	w.awaitCleared("QuorateNoSpace", nil)
	w.awaitCleared("QuorateReadOnly", nil)

	shared.Fill(0)
	w.awaitFiring("QuorateAuditDropped", nil)
	w.awaitFiring("QuorateLogLinesDropped", nil)
	shared.Clear()
	for _, name := range []string{"QuorateAuditDropped", "QuorateLogLinesDropped", "QuorateDiskFilling", "QuorateNoSpace"} {
		w.awaitCleared(name, nil)
	}
}

// TestFaultsCertificateExpires serves a certificate that ends in a week, and replaces it by one that
// ends in a year.
func TestFaultsCertificateExpires(t *testing.T) {
	program(t, "prometheus")
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
	p.awaitScrapes(1)
	p.awaitFiring("QuorateCertificateExpires", nil)
	writeCertificate(t, cert, key, 365*24*time.Hour)
	p.awaitCleared("QuorateCertificateExpires", nil)
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
