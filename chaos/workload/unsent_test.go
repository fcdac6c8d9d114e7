package workload_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

// stuck is a body of which nothing ever comes.
type stuck struct{ closed chan struct{} }

func (s stuck) Read([]byte) (int, error) {
	<-s.closed
	return 0, io.ErrUnexpectedEOF
}

func (s stuck) Close() error {
	close(s.closed)
	return nil
}

// TestRequestWithoutItsBodyDoesNothing checks that a write whose headers arrive without any of its
// body has no effect, because chaos clients count such a write as not applied.
func TestRequestWithoutItsBodyDoesNothing(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	made, outcome, err := b.node.Client.Create(ctx, "default", "kept", map[string]string{"value": "1"})
	if outcome != client.OK {
		t.Fatal(err)
	}
	conn, token := b.connect(ctx)
	for _, request := range []struct{ method, path string }{
		{http.MethodDelete, "/kept"}, {http.MethodPut, "/kept"}, {http.MethodPost, ""},
	} {
		given, giveUp := context.WithCancel(ctx)
		req, err := http.NewRequestWithContext(given, request.method, b.fleet.Nodes()[0].API+"/api/v1/namespaces/default/configmaps"+request.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Body, req.ContentLength = stuck{make(chan struct{})}, 100
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		done := make(chan error, 1)
		go func() {
			resp, err := conn.RoundTrip(req)
			if err == nil {
				resp.Body.Close()
			}
			done <- err
		}()
		// An answer that comes by the same connection comes after the headers were read.
		if err := nodes.Await(ctx, func() bool { return conn.InFlight() == 1 }); err != nil {
			t.Fatal(err)
		}
		b.ask(ctx, conn)
		giveUp()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", request.method, err)
		}
		b.ask(ctx, conn)
		if kept, outcome, err := b.node.Client.Get(ctx, "default", "kept"); outcome != client.OK || kept.Version != made.Version {
			t.Errorf("after a %s without its body: %s: %+v: %v", request.method, outcome, kept, err)
		}
	}
}

// connect makes a connection to the node.
func (b *bench) connect(ctx context.Context) (conn *http.ClientConn, token string) {
	b.Helper()
	data := filepath.Join(filepath.Dir(b.fleet.LogFile(b.node.Name)), b.node.Name)
	ca, err := os.ReadFile(filepath.Join(data, "ca.crt"))
	if err != nil {
		b.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(data, "admin.token"))
	if err != nil {
		b.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	conn, err = transport.NewClientConn(ctx, "https", strings.TrimPrefix(b.fleet.Nodes()[0].API, "https://"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return conn, strings.TrimSpace(string(text))
}

// ask makes a request that is always answered.
func (b *bench) ask(ctx context.Context, conn *http.ClientConn) {
	b.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.fleet.Nodes()[0].API+"/livez", nil)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := conn.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
}
