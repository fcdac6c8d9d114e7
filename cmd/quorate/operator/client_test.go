package operator_test

import (
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"quorate/apiserver/admin"
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
