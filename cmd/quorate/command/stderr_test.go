package command_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"quorate/cmd/quorate/kubeconfig"
)

// answerWithin bounds an answer of a node whose standard error nobody reads.
const answerWithin = 20 * time.Second

// TestNobodyReadsStderr checks that a node whose log nobody reads still refuses requests and serves
// writes as before, counts the lines that it drops, and reports their number when a reader returns.
// Without a reader it ends in bounded time.
func TestNobodyReadsStderr(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := &process{t: t, dir: t.TempDir()}
	p.cmd = exec.Command("quorate", "serve", "--name", "n1", "--data-dir", p.dir, "--request-log", "all",
		"--api-addr", "127.0.0.1:0", "--peer-addr", "127.0.0.1:0", "--gossip-addr", "127.0.0.1:0")
	p.cmd.Stderr = w // the process has the pipe itself
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	}()
	if _, stderr, err := p.quorate("healthcheck", "--wait", "60s"); err != nil {
		t.Fatal(stderr)
	}
	if code, body := p.create("first"); code/100 != 2 { // sets up p.http as well
		t.Fatal(body)
	}
	// Each request has a line: the pipe is full soon, then the queue.
	const logged = configMaps + "/first?resourceVersion=0"
	p.http.Transport = agent{p.http.Transport}
	within(t, "lines are dropped", func() bool {
		for range 500 {
			if code, body := p.ask(http.MethodGet, logged, ""); code != http.StatusOK {
				t.Fatalf("%d: %s", code, body)
			}
		}
		return p.droppedLines() > 0
	})
	t.Run("refusals_and_writes_are_answered", func(t *testing.T) {
		unprivileged, stderr, err := p.quorate("token", "create", "--user", "nobody")
		if err != nil {
			t.Fatal(stderr)
		}
		for i := range 30 {
			for _, c := range []struct {
				method, path, token string
				code                int
			}{
				{http.MethodGet, configMaps, "wrong", 401},
				{http.MethodGet, configMaps, strings.TrimSpace(unprivileged), 403},
				{http.MethodGet, configMaps + "/none", "", 404},
				{http.MethodPost, configMaps, "", 201},
			} {
				body := ""
				if c.method == http.MethodPost {
					body = fmt.Sprintf(`{"metadata":{"name":"o%d"}}`, i)
				}
				if code := p.askAs(t, c.token, c.method, c.path, body); code != c.code && (c.code != 201 || code != 200) {
					t.Fatalf("%s %s: %d, want %d", c.method, c.path, code, c.code)
				}
			}
		}
	})
	t.Run("the_drops_are_told", func(t *testing.T) {
		found := make(chan error, 1)
		go func() { found <- readUntil(r, "lines of this log were dropped") }()
		select {
		case err := <-found:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(eventually):
			t.Error("the number of dropped lines was not reported")
			_ = r.Close()
			<-found
		}
	})
	t.Run("it_ends_without_a_reader", func(t *testing.T) {
		for range 500 { // more than a pipe holds
			p.ask(http.MethodGet, logged, "")
		}
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- p.cmd.Wait() }()
		select {
		case <-ended: // with an error: it could not write its last lines
		case <-time.After(eventually):
			t.Error("it goes on")
			_ = p.cmd.Process.Kill()
			<-ended
		}
	})
}

// agent sends a name of the client that makes the lines about it long.
type agent struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (a agent) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", strings.Repeat("a", 250))
	return a.RoundTripper.RoundTrip(r)
}

// readUntil reads lines until one contains text.
func readUntil(r io.Reader, text string) error {
	var tail string
	buffer := make([]byte, 64<<10)
	for {
		n, err := r.Read(buffer)
		tail += string(buffer[:n])
		if strings.Contains(tail, text) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("no %q: %w", text, err)
		}
		tail = tail[max(0, len(tail)-len(text)):]
	}
}

// droppedLines returns how many lines of the log of the process were dropped, by its metric.
func (p *process) droppedLines() int {
	p.t.Helper()
	_, body := p.ask(http.MethodGet, "/metrics", "")
	const name = `quorate_node_log_dropped_lines_total{log="process",reason="full"} `
	for line := range strings.Lines(body) {
		if value, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return int(n)
		}
	}
	p.t.Fatal("no metric of dropped lines")
	return 0
}

// askAs makes a request with a token, the administrator's if it is empty, and returns the code.
func (p *process) askAs(t *testing.T, token, method, path, body string) int {
	t.Helper()
	config, err := kubeconfig.Read(p.dir + "/admin.kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	if token == "" {
		token = config.Token
	}
	ctx, cancel := context.WithTimeout(t.Context(), answerWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, config.Server+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.http.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}
