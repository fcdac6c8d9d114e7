package h2

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if which := os.Getenv(envServe); which != "" {
		fmt.Fprintln(os.Stderr, serveBenchmark(which))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// testServer is an http.Server with Configure, on a TCP port, with a certificate that its clients
// trust.
type testServer struct {
	http  *http.Server
	addr  string
	roots *x509.CertPool
}

// start serves h until the test ends. change, if given, configures the server first.
func start(t testing.TB, h http.Handler, change ...func(*http.Server)) *testServer {
	t.Helper()
	return startWith(t, h, Options{}, change...)
}

func startWith(t testing.TB, h http.Handler, opts Options, change ...func(*http.Server)) *testServer {
	t.Helper()
	return startOn(t, h, opts, func(l net.Listener) net.Listener { return l }, change...)
}

// startOn is startWith with a listener that listen may wrap.
func startOn(t testing.TB, h http.Handler, opts Options, listen func(net.Listener) net.Listener, change ...func(*http.Server)) *testServer {
	t.Helper()
	certs := httptest.NewUnstartedServer(nil)
	certs.StartTLS()
	defer certs.Close()
	roots := x509.NewCertPool()
	roots.AddCert(certs.Certificate())
	srv := &http.Server{
		Handler:   h,
		TLSConfig: &tls.Config{Certificates: certs.TLS.Certificates},
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	for _, f := range change {
		f(srv)
	}
	if err := Configure(srv, opts); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- srv.ServeTLS(listen(l), "", "") }()
	t.Cleanup(func() {
		_ = srv.Close() // in case a failed test has left connections
		if err := <-done; err != http.ErrServerClosed {
			t.Errorf("serve: %v", err)
		}
	})
	return &testServer{http: srv, addr: l.Addr().String(), roots: roots}
}

func (s *testServer) url(path string) string { return "https://" + s.addr + path }

// client returns a client of net/http that uses HTTP/2.
func (s *testServer) client(t testing.TB) *http.Client {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.roots, ServerName: "example.com"}, ForceAttemptHTTP2: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}
