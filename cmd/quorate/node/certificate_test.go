package node

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/cluster/keys"
	"quorate/cmd/quorate/settings"
)

// newAuthority returns the authority of a new cluster.
func newAuthority(t *testing.T) *keys.Authority {
	t.Helper()
	a, err := keys.Generate().Authority()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// writePair writes a certificate and its key, and returns their paths and the certificate.
func writePair(t *testing.T, dir, user string) (cert, key string, leaf *x509.Certificate) {
	t.Helper()
	certPEM, keyPEM, err := newAuthority(t).IssueUser(user, nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for path, content := range map[string][]byte{cert: certPEM, key: keyPEM} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	block, _ := pem.Decode(certPEM)
	if leaf, err = x509.ParseCertificate(block.Bytes); err != nil {
		t.Fatal(err)
	}
	return cert, key, leaf
}

func TestSuppliedCertificate(t *testing.T) {
	t.Parallel()
	config, err := newAuthority(t).APIServer(localName)
	if err != nil {
		t.Fatal(err)
	}
	cert, key, leaf := writePair(t, t.TempDir(), "theirs")
	if err := supplied(config, settings.API{CertFile: cert, KeyFile: key}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"api.example.com": true, "": true, localName: false} {
		got, err := config.GetCertificate(&tls.ClientHelloInfo{ServerName: name})
		if err != nil {
			t.Fatal(err)
		}
		if theirs := string(got.Certificate[0]) == string(leaf.Raw); theirs != want {
			t.Errorf("asked for %q: the operator's certificate is shown: %t, want %t", name, theirs, want)
		}
	}
}

func TestSuppliedCertificateIsReplacedOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, _ := writePair(t, dir, "old")
	file := &certificateFile{cert: cert, key: key}
	if _, err := file.get(); err != nil {
		t.Fatal(err)
	}
	_, _, fresh := writePair(t, dir, "new")
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(cert, later, later); err != nil {
		t.Fatal(err)
	}
	file.checked = time.Now().Add(-2 * certificateCheck)
	got, err := file.get()
	if err != nil || string(got.Certificate[0]) != string(fresh.Raw) {
		t.Errorf("the new certificate is not served: %v", err)
	}
	if err := os.WriteFile(cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	file.checked = time.Now().Add(-2 * certificateCheck)
	if kept, err := file.get(); err != nil || kept != got {
		t.Errorf("an unreadable replacement ends service: %v", err)
	}
}

// TestExpiryOfTheCertificateIsAMetric checks the metric for a certificate of the cluster's
// authority and for a supplied one. A chain expires when its first certificate does.
func TestExpiryOfTheCertificateIsAMetric(t *testing.T) {
	t.Parallel()
	config, err := newAuthority(t).APIServer(localName)
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(gatherExpiry(t, config)); left < 364*24*time.Hour || left > 365*24*time.Hour {
		t.Errorf("the cluster's own certificate expires in %s, want a year", left)
	}

	cert, key, leaf := writePair(t, t.TempDir(), "theirs")
	if err := supplied(config, settings.API{CertFile: cert, KeyFile: key}); err != nil {
		t.Fatal(err)
	}
	if got := gatherExpiry(t, config); !got.Equal(leaf.NotAfter) {
		t.Errorf("the metric is %s, want %s", got, leaf.NotAfter)
	}

	authority, _ := pem.Decode(newAuthority(t).CertificatePEM()) // valid for a century
	for _, chain := range [][][]byte{{leaf.Raw, authority.Bytes}, {authority.Bytes, leaf.Raw}} {
		if got, err := expiry(&tls.Certificate{Certificate: chain}); err != nil || !got.Equal(leaf.NotAfter) {
			t.Errorf("a chain expires at %s, %v, want %s", got, err, leaf.NotAfter)
		}
	}
	if _, err := expiry(&tls.Certificate{Certificate: [][]byte{[]byte("none")}}); err == nil {
		t.Error("a chain that is no certificate has an expiry")
	}
}

// gatherExpiry returns the value of the metric.
func gatherExpiry(t *testing.T, config *tls.Config) time.Time {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	registerCertificate(reg, config)
	families, err := reg.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("gathered %v, %v", families, err)
	}
	return time.Unix(int64(families[0].Metric[0].GetGauge().GetValue()), 0)
}

func TestUnusableSuppliedFiles(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]settings.API{
		"--client-ca-file: open /nowhere": {ClientCAFile: "/nowhere"},
		"no certificate in it":            {ClientCAFile: empty},
		"--tls-cert-file: ":               {CertFile: empty, KeyFile: empty},
	} {
		if err := supplied(&tls.Config{}, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestSuppliedKeyMode checks that a private key that other users can read is refused.
func TestSuppliedKeyMode(t *testing.T) {
	t.Parallel()
	cert, key, _ := writePair(t, t.TempDir(), "api.example.com")
	for mode, taken := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: true, 0o644: false, 0o660: false, 0o604: false} {
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		_, err := (&certificateFile{cert: cert, key: key}).get()
		if taken && err != nil || !taken && (err == nil || !strings.Contains(err.Error(), "run chmod 600 "+key)) {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}
