package workload_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"quorate/chaos/check/watchmodel"
	"quorate/chaos/client"
	"quorate/chaos/nodes"
	"quorate/chaos/workload"
	"quorate/chaos/workload/mixture"
)

// TestReferencesGoOnElsewhere checks that a reference whose position one node refuses as too old,
// as a node does that began from a snapshot, watches on at another node and misses no change.
func TestReferencesGoOnElsewhere(t *testing.T) {
	b := newBench(t)
	b.targets = workload.NewTargets(b.node, workload.Target{Name: "forgetful", Client: b.forgetful()})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	m, err := mixture.Start(ctx, mixture.Config{
		Name: "mix", Targets: b.targets, Seed: 1, Watches: 8, Rate: 100, Now: b.recorder.Now, Log: b.config().Log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	if err := nodes.Await(ctx, func() bool { return m.Acknowledged() > 100 }); err != nil {
		t.Fatal(err)
	}
	m.Stop()
	if err := m.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	record, problems := m.Record()
	if len(problems) > 0 {
		t.Error(problems[0])
	}
	refusals := 0
	for name, resource := range record.Resources {
		for _, reference := range resource.References {
			refusals += len(reference.Refusals)
			if reference.Ended {
				t.Errorf("%s: reference %d ended at %d of %d, though one node has all changes", name, reference.Watcher, reference.Reached, resource.End)
			}
		}
	}
	verdict := watchmodel.Judge(record)
	if refusals == 0 || len(verdict.Expired) < refusals {
		t.Errorf("%d references were refused, the verdict has %d refused positions", refusals, len(verdict.Expired))
	}
	for _, f := range verdict.Findings {
		if f.Count > 0 {
			t.Errorf("%s: %d times, for example %s", f.Rule, f.Count, f.Samples[0])
		}
	}
}

// forgetful returns a client of a server that refuses the position of each watch of its own user as
// too old. All other requests go to the node.
func (b *bench) forgetful() *client.Client {
	b.Helper()
	target, err := url.Parse(b.fleet.Nodes()[0].API)
	if err != nil {
		b.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(b.credentials.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}}
	b.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		watch := r.URL.Query().Has("watch") || strings.Contains(r.URL.Path, "/watch/")
		if !watch || r.Header.Get("Impersonate-User") != "" {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusGone)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old resource version","reason":"Expired","code":410}`))
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	b.Cleanup(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	forgetful, err := client.New(server.URL, client.Credentials{CA: certificate, Token: b.credentials.Token})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(forgetful.Close)
	return forgetful
}
