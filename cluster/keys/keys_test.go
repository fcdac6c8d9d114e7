package keys_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quorate/cluster/keys"
)

// fixed is a key whose derivations are written down below: they are what makes nodes of two
// releases one cluster.
const fixed = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

func TestKey(t *testing.T) {
	t.Run("a saved key loads as itself, and is not written over", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "cluster.key")
		key, err := keys.LoadOrGenerate(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("file is %v, %v, want mode 0600", info.Mode(), err)
		}
		again, err := keys.LoadOrGenerate(path)
		if err != nil || again.Text() != key.Text() {
			t.Errorf("loaded %v, %v: another key", again, err)
		}
		if err := keys.Generate().Save(path); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a second key over the first: %v", err)
		}
	})
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{"empty", " \n", 0o600, "cluster key is empty"},
		{"not base64", "secret!", 0o600, "is not base64"},
		{"too short", "c2hvcnQ=", 0o600, "has 5 bytes: want base64 of 32 bytes"},
		{"too long a file", strings.Repeat("A", 5000), 0o600, "5000 bytes is no cluster key"},
		{"readable by all", fixed, 0o644, "mode 0644 lets others at it: chmod 600 it"},
		{"writable by the group", fixed, 0o660, "mode 0660 lets others at it"},
		{"readable by the group", fixed, 0o440, ""},
	} {
		t.Run("a file that is "+c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cluster.key")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			_, err := keys.Load(path)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("Load says %v, want %q", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret!")) {
				t.Errorf("error %q is not one line, or tells the secret", err)
			}
		})
	}
	t.Run("a missing file is reported as missing", func(t *testing.T) {
		if _, err := keys.Load(filepath.Join(t.TempDir(), "no")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Load says %v", err)
		}
	})
	t.Run("its uses have keys of their own, always the same", func(t *testing.T) {
		a, b := parse(t, fixed), parse(t, " "+fixed+"\n")
		if !bytes.Equal(a.Gossip(), b.Gossip()) || !bytes.Equal(a.TokenSigning(), b.TokenSigning()) {
			t.Error("two readings of a key derive differently")
		}
		if bytes.Equal(a.Gossip(), a.TokenSigning()) || len(a.Gossip()) != 32 || len(a.TokenSigning()) != 32 {
			t.Error("want two different keys of 32 bytes")
		}
	})
}

func TestAuthority(t *testing.T) {
	t.Run("the certificate is the same on every node and in every release", func(t *testing.T) {
		got := authority(t, fixed).CertificatePEM()
		if again := authority(t, fixed).CertificatePEM(); !bytes.Equal(got, again) {
			t.Error("two derivations differ")
		}
		path := filepath.Join("testdata", "ca.pem.golden")
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the authority of the fixed key is not that of %s any more: running clusters would fall apart", path)
		}
	})
	t.Run("another key is another authority", func(t *testing.T) {
		if bytes.Equal(authority(t, fixed).CertificatePEM(), authority(t, keys.Generate().Text()).CertificatePEM()) {
			t.Error("they are the same")
		}
	})
}

func TestPeerTLS(t *testing.T) {
	n1, n2 := keys.Peer{Name: "n1", NodeID: "id-1"}, keys.Peer{Name: "n2", NodeID: "id-2"}
	a := authority(t, fixed)
	t.Run("nodes with the same key talk, each knowing the other", func(t *testing.T) {
		t.Parallel()
		var met keys.Peer
		server := peerTLS(t, a, keys.PeerConfig{Self: n1, Admit: func(p keys.Peer) error { met = p; return nil }})
		if err := handshake(t, server, peerTLS(t, a, keys.PeerConfig{Self: n2})); err != nil {
			t.Fatal(err)
		}
		if met != n2 {
			t.Errorf("the server met %v, want %v", met, n2)
		}
	})
	t.Run("another key is refused and named as the reason", func(t *testing.T) {
		t.Parallel()
		other := authority(t, keys.Generate().Text())
		err := handshake(t, peerTLS(t, a, keys.PeerConfig{Self: n1}), peerTLS(t, other, keys.PeerConfig{Self: n2}))
		if err == nil || !strings.Contains(err.Error(), "another cluster key") {
			t.Errorf("handshake says %v", err)
		}
	})
	t.Run("a node that is not admitted is refused", func(t *testing.T) {
		t.Parallel()
		refuse := func(keys.Peer) error { return errors.New("name is taken") }
		err := handshake(t, peerTLS(t, a, keys.PeerConfig{Self: n1, Admit: refuse}), peerTLS(t, a, keys.PeerConfig{Self: n2}))
		if err == nil || !strings.Contains(err.Error(), "name is taken") {
			t.Errorf("handshake says %v", err)
		}
	})
	t.Run("a user's certificate does not pass as a peer", func(t *testing.T) {
		t.Parallel()
		certificate, key, err := a.IssueUser("n2", []string{"system:masters"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			t.Fatal(err)
		}
		client := &tls.Config{Certificates: []tls.Certificate{pair}, InsecureSkipVerify: true}
		err = handshake(t, peerTLS(t, a, keys.PeerConfig{Self: n1}), client)
		if err == nil || !strings.Contains(err.Error(), "is not a node's") {
			t.Errorf("handshake says %v", err)
		}
	})
	t.Run("TLS below 1.3 is refused", func(t *testing.T) {
		t.Parallel()
		client := peerTLS(t, a, keys.PeerConfig{Self: n2})
		client.MinVersion, client.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		if err := handshake(t, peerTLS(t, a, keys.PeerConfig{Self: n1}), client); err == nil {
			t.Error("TLS 1.2 is let in")
		}
	})
}

func TestRenewal(t *testing.T) {
	t.Run("a certificate is replaced long before it expires, without a restart", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))) // the bubble's clock begins before the authority's
			config := peerTLS(t, authority(t, fixed), keys.PeerConfig{Self: keys.Peer{Name: "n1"}})
			current := func() *x509.Certificate {
				c, err := config.GetCertificate(nil)
				if err != nil {
					t.Fatal(err)
				}
				return c.Leaf
			}
			first := current()
			for range 5 * 365 {
				time.Sleep(24 * time.Hour)
				if left := time.Until(current().NotAfter); left < 100*24*time.Hour {
					t.Fatalf("a certificate with %s left is in use", left)
				}
			}
			if current().Equal(first) {
				t.Error("it was never replaced")
			}
		})
	})
}

func TestAPIServer(t *testing.T) {
	a := authority(t, fixed)
	config, err := a.APIServer("api.example.org", "10.1.2.3", "0.0.0.0", "", "node_1")
	if err != nil {
		t.Fatal(err)
	}
	issued, err := config.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "api.example.org", "10.1.2.3"} {
		if _, err := issued.Leaf.Verify(x509.VerifyOptions{Roots: a.Pool(), DNSName: host}); err != nil {
			t.Errorf("as %s: %v", host, err)
		}
	}
	for _, ip := range issued.Leaf.IPAddresses {
		if ip.IsUnspecified() {
			t.Errorf("the certificate names %s", ip)
		}
	}
	if config.NextProtos[0] != "h2" || config.MinVersion != tls.VersionTLS12 {
		t.Errorf("want HTTP/2 first and at least TLS 1.2, have %v, %x", config.NextProtos, config.MinVersion)
	}
}

func parse(t *testing.T, text string) *keys.Key {
	t.Helper()
	key, err := keys.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func authority(t *testing.T, text string) *keys.Authority {
	t.Helper()
	a, err := parse(t, text).Authority()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func peerTLS(t *testing.T, a *keys.Authority, c keys.PeerConfig) *tls.Config {
	t.Helper()
	p, err := a.PeerTLS(c)
	if err != nil {
		t.Fatal(err)
	}
	return p.Config()
}

// handshake returns the errors of both sides.
func handshake(t *testing.T, server, client *tls.Config) error {
	t.Helper()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	served := make(chan error, 1)
	go func() {
		s := tls.Server(a, server)
		err := s.HandshakeContext(ctx)
		if err == nil {
			_, err = s.Write([]byte{1})
		}
		a.Close()
		served <- err
	}()
	c := tls.Client(b, client)
	err := c.HandshakeContext(ctx)
	if err == nil {
		_, err = c.Read(make([]byte, 1)) // in TLS 1.3 the server's verdict comes after the client's handshake
	}
	b.Close()
	return errors.Join(<-served, err)
}

func FuzzParse(f *testing.F) {
	f.Add(fixed)
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		key, err := keys.Parse(text)
		if err != nil {
			return
		}
		if again, err := keys.Parse(key.Text()); err != nil || again.Text() != key.Text() {
			t.Errorf("%q does not survive: %v", text, err)
		}
	})
}

func TestGoldenIsACertificate(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "ca.pem.golden"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil || !certificate.IsCA || certificate.NotAfter.Year() != 2120 {
		t.Errorf("%v, %v", certificate, err)
	}
}
