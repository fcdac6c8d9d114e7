package operator_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"quorate/apiserver/admin"
	"quorate/cluster/keys"
	"quorate/cmd/quorate/kubeconfig"
	"quorate/cmd/quorate/operator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a TLS server and returns a client of it.
func serve(t *testing.T, handler http.HandlerFunc) *operator.Client {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	c, err := operator.New(kubeconfig.Config{Server: server.URL, CA: ca, Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestMembersSendsTokenAndReadsResponse(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/cluster/v1/members" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("got %s %s", r.Method, r.URL)
		}
		io.WriteString(w, `{"members":[{"name":"n1","role":"leader","alive":true,"lastIndex":7}]}`)
	})
	got, err := c.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]admin.Member{{Name: "n1", Role: "leader", Alive: new(true), LastIndex: new(uint64(7))}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestErrorsAreOneClearLine(t *testing.T) {
	cases := map[string]struct {
		code int
		body string
		want string
	}{
		"Status":       {409, `{"kind":"Status","message":"n3 is alive"}`, "n3 is alive"},
		"health check": {500, "[+]ping ok\n[-]leader failed: reason withheld\n", "500 Internal Server Error: [-]leader failed: reason withheld"},
		"empty":        {502, "", "502 Bad Gateway"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.code)
				io.WriteString(w, tc.body)
			})
			if err := c.Ready(t.Context()); err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestUnreachableNode(t *testing.T) {
	c := serve(t, func(http.ResponseWriter, *http.Request) {})
	stranger, err := operator.New(kubeconfig.Config{Server: "https://127.0.0.1:1", CA: authority(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if err := stranger.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "is the node running?") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if err := c.Ready(ctx); err == nil || !strings.Contains(err.Error(), "does not answer in time") {
		t.Errorf("got %v", err)
	}
}

func TestNodeOfAnotherCluster(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(server.Close)
	c, err := operator.New(kubeconfig.Config{Server: server.URL, CA: authority(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "is it a node of another cluster?") {
		t.Errorf("got %v", err)
	}
}

// TestNodesAreTriedInTurn: a node that cannot be reached is passed over, and one that was sent a
// request is the last to be asked, since the request may have had an effect.
func TestNodesAreTriedInTurn(t *testing.T) {
	var asked []string
	server := func(name string, handler http.HandlerFunc) *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, name)
			handler(w, r)
		}))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	fine := server("fine", func(http.ResponseWriter, *http.Request) {})
	broken := server("broken", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	const dead = "https://127.0.0.1:1"
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: fine.Certificate().Raw})
	for name, c := range map[string]struct {
		servers     []string
		want, error string
	}{
		"the first one responds":   {[]string{fine.URL, broken.URL}, "fine", ""},
		"the first one is dead":    {[]string{dead, fine.URL}, "fine", ""},
		"all are dead":             {[]string{dead, "https://127.0.0.1:2", dead}, "", "none of 2 addresses responds"},
		"a request was sent":       {[]string{dead, broken.URL, fine.URL}, "broken", "ask " + broken.URL},
		"the only address is dead": {[]string{dead}, "", "is the node running?"},
	} {
		asked = nil
		config := kubeconfig.Config{Server: c.servers[0], CA: ca}
		for _, s := range c.servers[1:] {
			config.Others = append(config.Others, kubeconfig.Node{Server: s})
		}
		client, err := operator.New(config)
		if err != nil {
			t.Fatal(err)
		}
		err = client.Leave(t.Context())
		client.Close()
		if (err == nil) != (c.error == "") || err != nil && !strings.Contains(err.Error(), c.error) {
			t.Errorf("%s: got %v, want %q", name, err, c.error)
		}
		if got := strings.Join(asked, " "); got != c.want {
			t.Errorf("%s: asked %q, want %q", name, got, c.want)
		}
	}
}

// TestSilentNodeIsPassedOver: one that accepts connections and never responds, as a stopped process
// does.
func TestSilentNodeIsPassedOver(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	c, err := operator.New(kubeconfig.Config{
		Server: "https://" + silent.Addr().String(), Others: []kubeconfig.Node{{Server: server.URL}},
		CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestClientCertificate: a user may have a certificate instead of a token.
func TestClientCertificate(t *testing.T) {
	authority, err := keys.Generate().Authority()
	if err != nil {
		t.Fatal(err)
	}
	certificate, key, err := authority.IssueUser("jane", nil, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) == 0 || r.TLS.PeerCertificates[0].Subject.CommonName != "jane" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	defer server.Close()
	c, err := operator.New(kubeconfig.Config{
		Server: server.URL, ClientCertificate: certificate, ClientKey: key,
		CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}
