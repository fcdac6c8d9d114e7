package browser

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestSignInWithCertificate: a user with a client certificate signs in without a token, reads and
// writes, and signs out. A user without one is refused. The browser's connections pass through a
// proxy that presents the certificate, since Chromium takes its own only from the profile and the
// policies of the machine.
func TestSignInWithCertificate(t *testing.T) {
	t.Parallel()
	authority, certificate := newCertificate(t, pkix.Name{CommonName: "jane", Organization: []string{"system:masters"}})
	c := startCluster(t, "--client-ca-file", authority)
	_, others := c.leader(t)
	node, err := url.Parse(others[0])
	if err != nil {
		t.Fatal(err)
	}
	node.Path = "/"
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(node) },
		FlushInterval: -1, // for watches
		Transport: &http.Transport{TLSClientConfig: &tls.Config{
			Certificates: []tls.Certificate{certificate}, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12,
		}},
	})
	t.Cleanup(proxy.Close)

	p := newPage(t)
	const button = "form button:not(.primary)"
	p.expectRefusals(true)
	p.run(chromedp.Navigate(others[0]))
	p.await("the form", "document.querySelector('#token')")
	p.run(chromedp.Click(button))
	p.await("the refusal without a certificate", "document.querySelector('[role=alert]')?.innerText.includes('401 Unauthorized')")
	p.checkSignedOut()
	p.expectRefusals(false)

	p.run(chromedp.Navigate(proxy.URL + "/console/"))
	p.await("the form", "document.querySelector('#token')")
	p.run(chromedp.Click(button))
	p.await("the user of the certificate", "document.querySelector('#user').textContent === 'jane'")
	p.await("the members", has("3 of 3 voters"))
	p.open("#/operations")
	p.await("the operations", "document.querySelector('#checksum')")
	p.run(chromedp.Click("#checksum"))
	p.await("the checksums", has("No node has diverged."))
	p.run(chromedp.Reload())
	p.await("the user after a reload", "document.querySelector('#user').textContent === 'jane'")
	p.run(chromedp.Click("#sign-out"))
	p.await("the form", "document.querySelector('#token')")
	p.checkSignedOut()
}

// newCertificate returns the file of a new authority, and a client certificate that it issued.
func newCertificate(t *testing.T, user pkix.Name) (authority string, certificate tls.Certificate) {
	t.Helper()
	caKey, key := newKey(t), newKey(t)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clients"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	client := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: user, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	root, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		t.Fatal(err)
	}
	issued, err := x509.CreateCertificate(rand.Reader, client, ca, key.Public(), caKey)
	if err != nil {
		t.Fatal(err)
	}
	authority = filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root}), 0o600); err != nil {
		t.Fatal(err)
	}
	return authority, tls.Certificate{Certificate: [][]byte{issued}, PrivateKey: key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
