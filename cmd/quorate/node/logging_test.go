package node

import (
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
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/cmd/quorate/logsink"
	"quorate/cmd/quorate/settings"
)

// text is a log. It is safe for concurrent use.
type text struct {
	mu sync.Mutex
	b  strings.Builder // guarded by mu
}

func (s *text) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *text) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// openLogs opens the logs of a node with a policy and further settings of the audit log.
func openLogs(t *testing.T, s settings.Audit) (*logs, *text) {
	t.Helper()
	s.Policy = writeFile(t, "policy.yaml", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
	s.MaxBytes, s.MaxAge, s.MaxFiles = 1<<20, time.Hour, 1
	process := &text{}
	l := newLogs(process, settings.Log{Format: "text", Level: "info"}, logsink.NewMetrics(prometheus.NewRegistry()))
	if err := l.openRequests(io.Discard, s); err != nil {
		t.Fatal(err)
	}
	return l, process
}

// webhookFile configures a server as the webhook.
func webhookFile(t *testing.T, url string, certificate []byte) string {
	t.Helper()
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	return writeFile(t, "webhook.yaml", fmt.Sprintf("clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %q}}]\n"+
		"contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n", url, ca))
}

// TestWebhookThatTakesNothing checks that a webhook which hangs, refuses connections or refuses
// events delays no request, that waiting events take bounded memory, and that dropped events are
// reported.
func TestWebhookThatTakesNothing(t *testing.T) {
	t.Parallel()
	hang, written := make(chan struct{}), make(chan struct{})
	var refused atomic.Int64
	for name, handler := range map[string]http.HandlerFunc{
		"slow": func(http.ResponseWriter, *http.Request) { <-hang },
		"refusing": func(w http.ResponseWriter, _ *http.Request) {
			if refused.Add(1) > 3 {
				<-written // a write that waited for the webhook, or for another attempt, would wait forever
			}
			w.WriteHeader(http.StatusBadRequest)
		},
		"down": nil,
	} {
		s := httptest.NewTLSServer(handler)
		url := s.URL
		if handler == nil {
			s.Close()
		}
		l, process := openLogs(t, settings.Audit{Webhook: webhookFile(t, url, s.Certificate().Raw)})
		event := []byte(`{"auditID":"` + strings.Repeat("x", 4000) + "\"}\n")
		for range 20_000 { // 80 MB
			if _, err := l.sinks[0].Write(event); err != nil {
				t.Error(err)
			}
			if held := l.queues[0].Queued(); held > maxQueuedEventBytes {
				t.Fatalf("%s: %d bytes wait", name, held)
			}
		}
		if name == "refusing" {
			close(written)
		}
		if name == "slow" {
			time.AfterFunc(100*time.Millisecond, func() { close(hang) }) // else the server would not end
		}
		if err := l.close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(process.String(), `msg="lines of a log were dropped" log=audit-webhook`) {
			t.Errorf("%s: the log does not tell: %.500s", name, process)
		}
		if handler != nil {
			s.Close()
		}
	}
}

// TestEventsArriveEverywhere checks that each event reaches the file and, in batches, the webhook.
func TestEventsArriveEverywhere(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var batches []int
	s := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var list struct{ Items []json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&list); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		batches = append(batches, len(list.Items))
	}))
	defer s.Close()
	path := filepath.Join(t.TempDir(), "audit.log")
	l, process := openLogs(t, settings.Audit{Log: path, Webhook: webhookFile(t, s.URL, s.Certificate().Raw)})
	for i := range 1000 {
		for _, sink := range l.sinks {
			fmt.Fprintf(sink, "{\"auditID\":\"%d\"}\n", i)
		}
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil || strings.Count(string(content), "\n") != 1000 {
		t.Errorf("%d lines in the file, %v", strings.Count(string(content), "\n"), err)
	}
	if got := fmt.Sprint(batches); got != "[400 400 200]" {
		t.Errorf("batches %s", got)
	}
	if process.String() != "" {
		t.Errorf("the log says: %s", process)
	}
}

// TestClaimOfTheAuditLog checks that the audit log's space counts as set aside only if the file is
// on the disk of the data directory.
func TestClaimOfTheAuditLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		log  string
		want int64
	}{{filepath.Join(dir, "audit.log"), 2 << 20}, {"/dev/shm/quorate-test-" + filepath.Base(dir), 0}, {"", 0}} {
		if c.log == "" {
			c.log = "-"
		}
		l, _ := openLogs(t, settings.Audit{Log: c.log})
		claim, err := l.claim(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := claim(); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.log, got, c.want)
		}
		if err := l.close(); err != nil {
			t.Error(err)
		}
		if strings.HasPrefix(c.log, "/dev/shm/") {
			if err := os.Remove(c.log); err != nil {
				t.Error(err)
			}
		}
	}
}
