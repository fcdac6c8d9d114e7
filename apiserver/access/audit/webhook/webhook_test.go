package webhook_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quorate/apiserver/access/audit/webhook"
)

// config writes a kubeconfig for a server with a user and returns its path.
func config(t *testing.T, s *httptest.Server, user string) string {
	t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return configFile(t, fmt.Sprintf("{server: %q, certificate-authority-data: %q}", s.URL, base64.StdEncoding.EncodeToString(ca)), user)
}

func configFile(t *testing.T, cluster, user string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "webhook.yaml")
	text := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: " + cluster + "}]\nusers: [{name: u, user: " + user +
		"}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *webhook.Webhook {
	t.Helper()
	w, err := webhook.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// TestDeliver: events arrive as an EventList, with credentials, after attempts that failed.
func TestDeliver(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	got := make(chan []byte, 1)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer second" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		if requests.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- body
	}))
	defer s.Close()
	path := config(t, s, "{tokenFile: token}")
	w := open(t, path)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "token"), []byte("second\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Deliver(t.Context(), []byte("{\"auditID\":\"1\"}\n{\"auditID\":\"2\"}\n")); err != nil {
		t.Fatal(err)
	}
	var list struct {
		Kind, APIVersion string
		Items            []struct{ AuditID string }
	}
	if err := json.Unmarshal(<-got, &list); err != nil || list.Kind != "EventList" || list.APIVersion != "audit.k8s.io/v1" ||
		len(list.Items) != 2 || list.Items[1].AuditID != "2" {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestRefusedEvents: a server that refuses the events, or redirects, gets them once.
func TestRefusedEvents(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusTemporaryRedirect} {
		var requests atomic.Int32
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(code)
		}))
		err := open(t, config(t, s, "{token: t}")).Deliver(t.Context(), []byte("{}\n"))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(code)) || requests.Load() != 1 {
			t.Errorf("%d: %v after %d requests", code, err, requests.Load())
		}
		s.Close()
	}
}

// TestDeliverEndsWithItsContext: a server that is down, or does not answer, does not delay the end.
func TestDeliverEndsWithItsContext(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	slow := open(t, config(t, s, "{}"))
	down := open(t, configFile(t, "{server: 'https://127.0.0.1:1'}", "{}"))
	for name, w := range map[string]*webhook.Webhook{"slow": slow, "down": down} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		began := time.Now()
		if err := w.Deliver(ctx, []byte("{}\n")); err == nil || time.Since(began) > 8*time.Second {
			t.Errorf("%s: %v after %s", name, err, time.Since(began))
		}
		cancel()
	}
	close(hang)
	s.Close()
}

// TestServerMustProveItself: events are not sent to a server that another authority vouches for.
func TestServerMustProveItself(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it got events") }))
	defer s.Close()
	s.Config.ErrorLog = nil
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := open(t, configFile(t, fmt.Sprintf("{server: %q}", s.URL), "{}")).Deliver(ctx, []byte("{}\n"))
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v", err)
	}
}

func TestRefusedConfigurations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, cluster, user, want string }{
		{"plain HTTP", "{server: 'http://a'}", "{}", "want a URL that begins with https://"},
		{"no server", "{}", "{}", "want a URL"},
		{"exec", "{server: 'https://a'}", "{exec: {command: x}}", "exec and auth-provider are not supported"},
		{"proxy", "{server: 'https://a', proxy-url: 'http://b'}", "{}", "proxy-url"},
		{"authority", "{server: 'https://a', certificate-authority-data: eA==}", "{}", "no certificate in it"},
		{"no base64", "{server: 'https://a', certificate-authority-data: '-'}", "{}", "certificate-authority-data"},
		{"certificate without key", "{server: 'https://a'}", "{client-certificate-data: eA==}", "client-certificate and client-key"},
		{"missing file", "{server: 'https://a', certificate-authority: none.crt}", "{}", "none.crt"},
	} {
		path := configFile(t, c.cluster, c.user)
		if _, err := webhook.Open(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := webhook.Open(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file")
	}
}
