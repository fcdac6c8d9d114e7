package webhook

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPost(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, r.URL.RawQuery+" "+string(body))
	}))
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	for name, tc := range map[string]struct {
		ca   []byte
		most int64
		want string
	}{
		"answer":            {ca, 9, ""},
		"long answer":       {ca, 8, "the answer is longer than allowed: 8 bytes"},
		"other certificate": {nil, 9, "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(Config{URL: s.URL, CABundle: tc.ca, Calls: 1, ResponseBytes: tc.most})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			answers := NewAnswers(prometheus.NewRegistry())
			got, err := c.Post(t.Context(), answers, "a=1", []byte("hello"))
			switch {
			case tc.want == "" && (err != nil || string(got.Data) != "a=1 hello"):
				t.Errorf("%v, %v", got, err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%v, not %s", err, tc.want)
			}
			got.Release()
			if n := answers.queue.Used(); n != 0 {
				t.Errorf("%d bytes are held", n)
			}
		})
	}
}

// The name of a service that does not resolve needs another way to be reached, which the error
// names.
func TestServiceWithoutDNS(t *testing.T) {
	t.Parallel()
	c, err := New(Config{Service: &Service{Namespace: "no-such-namespace", Name: "hook", Path: "/convert"}, Calls: 1, ResponseBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if c.address != "https://hook.no-such-namespace.svc:443/convert" {
		t.Errorf("address %s", c.address)
	}
	if _, err := c.Post(t.Context(), NewAnswers(prometheus.NewRegistry()), "", nil); err == nil || !strings.Contains(err.Error(), "clientConfig.url") {
		t.Errorf("%v", err)
	}
}

func TestCABundleWithoutCertificates(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{URL: "https://example.com", CABundle: []byte("\n")}); err == nil {
		t.Error("accepted")
	}
}

// A caller that finds no turn is refused, and one that leaves makes room.
func TestEnterIsBounded(t *testing.T) {
	t.Parallel()
	c, err := New(Config{URL: "https://example.com", Calls: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Enter(ended); !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
	c.Leave()
	if err := c.Enter(t.Context()); err != nil {
		t.Error(err)
	}
}
