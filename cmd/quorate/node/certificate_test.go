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
