package apiserver_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
)

// TestAdvertisedAddress: discovery names the address that clients are told to use.
func TestAdvertisedAddress(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.AdvertiseAddr = "api.example:6443" })
	check(t, s.Do("GET", "/api", ""), want{code: 200, body: []string{`"serverAddress":"api.example:6443"`}})
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	for _, tc := range []struct{ row, path, body string }{
		{"L13", "/healthz", "ok"},
		{"L14 liveness", "/livez", "ok"},
		{"L13 verbose", "/readyz?verbose", "[+]ping ok\n[+]store ok\n[+]third-party-resources ok\n[+]roles ok\n[+]webhooks ok\n[+]shutdown ok\nreadyz check passed\n"},
		{"L13 excluded", "/readyz?verbose&exclude=store", "[+]ping ok\n[+]store excluded: ok\n[+]third-party-resources ok\n[+]roles ok\n[+]webhooks ok\n[+]shutdown ok\nreadyz check passed\n"},
		{"L13 one check", "/readyz/store", "ok"},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			if got := s.Do("GET", tc.path, "", "Authorization: "); got.Code != 200 || got.Body != tc.body {
				t.Errorf("code %d: %q", got.Code, got.Body)
			}
		})
	}
	t.Run("L13 unknown check", func(t *testing.T) {
		t.Parallel()
		check(t, s.Do("GET", "/readyz/nope", ""), want{404, "NotFound", "", nil})
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.Limits.Watches = 1 })
	open(t, s, "/api/v1/configmaps?watch=1&resourceVersion=0")
	open(t, s, "/api/v1/configmaps?watch=1&resourceVersion=0") // of the reserve
	got := s.Do("GET", "/api/v1/configmaps?watch=1&resourceVersion=0", "")
	check(t, got, want{429, "TooManyRequests", "", []string{`"retryAfterSeconds":1`}})
	if got.Header.Get("Retry-After") != "1" {
		t.Errorf("I20: %v", got.Header)
	}
	check(t, s.Do("GET", "/api/v1/configmaps", ""), want{code: 200})
}

// takeRead takes the place of one read until the end of the test.
func takeRead(t *testing.T, s *testserver.Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for refused := true; refused; { // while another read of the test has the seat
			resp, err := s.Client.Do(s.Request("GET", "/debug/pprof/goroutine?seconds=50", "").WithContext(ctx))
			if err != nil {
				return
			}
			_ = resp.Body.Close() // if served, not for as long as asked; the test's last check tells
			refused = resp.StatusCode == http.StatusTooManyRequests
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

// TestHealthIsExempt fills the bound on reads with one that takes long: probes are answered all the
// same, or an orchestrator would restart a node because it is busy.
func TestHealthIsExempt(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) {
		testserver.WithoutQueues(cfg)
		cfg.Limits.Reads = 1
	})
	takeRead(t, s)
	s.Eventually("reads are refused", func() bool { return s.Do("GET", "/api/v1/configmaps", "").Code == 429 })
	for _, path := range []string{"/livez", "/readyz", "/healthz", "/livez/ping", "/readyz/store"} {
		if got := s.Do("GET", path, ""); got.Code != 200 {
			t.Errorf("%s while reads are refused: %d %s", path, got.Code, got.Body)
		}
	}
	check(t, s.Do("GET", "/api/v1/configmaps", ""), want{code: 429})
}

func TestBodyBudget(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.Limits.BodyBytes = 64 << 10 })
	body := `{"metadata":{"name":"x"},"data":{"k":"` + strings.Repeat("x", 100<<10) + `"}}`
	check(t, s.Do("POST", "/api/v1/namespaces/default/configmaps", body), want{429, "TooManyRequests", "", nil})
	check(t, s.Do("POST", "/api/v1/namespaces/default/configmaps", configMap("small")), want{code: 200})
}

func TestAudit(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.RequestLogger = slog.New(slog.NewTextHandler(&log, nil)) })
	check(t, s.Do("GET", "/api/v1/namespaces/default/configmaps/x?secret=1", ""), want{code: 404})
	check(t, s.Do("GET", "/api/v1/namespaces/default", ""), want{code: 200})
	check(t, s.Do("POST", "/api/v1/namespaces/default/configmaps", configMap("x")), want{code: 200})
	check(t, s.Do("DELETE", "/api/v1/namespaces/default/configmaps/x", "", "Impersonate-User: jane"), want{code: 403})
	check(t, s.Do("DELETE", "/api/v1/namespaces/default/configmaps/x", "", "Impersonate-User: admin", "Impersonate-Group: system:masters"), want{code: 200})
	s.Stop()
	text := log.String()
	for _, part := range []string{"path=/api/v1/namespaces/default/configmaps/x", "verb=create", "user=admin", "code=200", "user=admin as=jane groups=[system:authenticated] verb=delete",
		`user=admin as=admin groups="[system:masters system:authenticated]" verb=delete`} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
	if strings.Contains(text, "secret") || strings.Contains(text, s.Token) || strings.Contains(text, "path=/api/v1/namespaces/default ") {
		t.Errorf("too much in %s", text)
	}
}
