package requestlog_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/requestlog"
)

// lines is what was logged.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newLog(policy requestlog.Policy) (*requestlog.Log, *lines) {
	out := &lines{}
	return requestlog.New(policy, slog.New(slog.NewTextHandler(out, nil)), prometheus.NewRegistry()), out
}

func entry(code int, user string) *requestlog.Entry {
	e := &requestlog.Entry{ID: "id", Request: httptest.NewRequest(http.MethodGet, "/x", nil), Code: code}
	if user != "" {
		e.User = &auth.User{Name: user}
	}
	return e
}

// TestLinesAreBounded: whatever a client sends, its line has a bounded length and says what was
// cut.
func TestLinesAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 30<<10)
	log, out := newLog(requestlog.All)
	e := entry(403, long)
	e.Sender = &auth.User{Name: long}
	for range 1000 {
		e.User.Groups = append(e.User.Groups, long)
	}
	e.Request.Method, e.Request.URL.Path = strings.Repeat("M", 60<<10), "/"+long
	e.Request.Header.Set("User-Agent", long)
	log.Log(e)
	line := out.String()
	if len(line) > 24*requestlog.MaxFieldBytes || strings.Count(line, "\n") != 1 {
		t.Errorf("a line of %d bytes", len(line))
	}
	for _, part := range []string{"method=", "path=", "user=", "as=", "agent=", "groups="} {
		if !strings.Contains(line, part) {
			t.Errorf("no %s in %s", part, line)
		}
	}
	if n := strings.Count(line, "bytes more)"); n != 5+16 {
		t.Errorf("%d fields are marked as cut", n)
	}
	if !strings.Contains(line, "984 more)") || !utf8.ValidString(line) {
		t.Errorf("groups left out, or half a letter: %s", line)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"short", "abc", "abc"},
		{"as long as allowed", strings.Repeat("a", 256), strings.Repeat("a", 256)},
		{"longer", strings.Repeat("a", 257), strings.Repeat("a", 256) + "...(1 bytes more)"},
		{"within a letter", strings.Repeat("a", 255) + "éx", strings.Repeat("a", 255) + "...(3 bytes more)"},
		{"not text", strings.Repeat("\xbf", 300), strings.Repeat("\xbf", 252) + "...(48 bytes more)"},
	} {
		if got := requestlog.Cut(c.text); got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestRefusalsAreRateLimited: each user has a burst of lines for each code, then one a second; the
// number left out is logged. Others, and errors of the server, are not affected.
func TestRefusalsAreRateLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, out := newLog(requestlog.Errors)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- log.Run(ctx) }()
		count := func(part string) int { return strings.Count(out.String(), part) }
		for range 100 {
			log.Log(entry(404, "mallory"))
		}
		if n := count("code=404"); n != 10 {
			t.Errorf("%d lines of 100", n)
		}
		log.Log(entry(403, "mallory"))
		log.Log(entry(404, "alice"))
		for range 100 {
			log.Log(entry(500, "mallory"))
		}
		if count("code=403") != 1 || count("user=alice") != 1 || count("code=500") != 100 {
			t.Errorf("others are missing: %s", out)
		}
		time.Sleep(5 * time.Second)
		for range 100 {
			log.Log(entry(404, "mallory"))
		}
		if n := count(`msg=request request=id method=GET path=/x code=404`); n != 10+1+5 {
			t.Errorf("%d lines after 5 s", n)
		}
		time.Sleep(6 * time.Second)
		if n := count("code=404 user=mallory lines=185"); n != 1 {
			t.Errorf("what was left out is not told: %s", out)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestManyUsersShareABound: no number of users makes the log grow without bound, nor the memory
// that tells them apart.
func TestManyUsersShareABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, out := newLog(requestlog.Errors)
		for i := range 5000 {
			log.Log(entry(404, fmt.Sprintf("user-%d", i)))
		}
		if n := strings.Count(out.String(), "\n"); n > 1024+10 {
			t.Errorf("%d lines for 5000 users", n)
		}
	})
}

// TestImpersonationSharesABound: who impersonates many users has the lines of one.
func TestImpersonationSharesABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, out := newLog(requestlog.Errors)
		for i := range 100 {
			e := entry(403, fmt.Sprintf("user-%d", i))
			e.Sender = &auth.User{Name: "proxy"}
			log.Log(e)
		}
		if n := strings.Count(out.String(), "\n"); n != 10 {
			t.Errorf("%d lines", n)
		}
	})
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	for policy, want := range map[requestlog.Policy]string{"none": "", "errors": "404 500 ", "writes": "201 404 500 ", "all": "200 201 404 500 "} {
		log, out := newLog(policy)
		for _, code := range []int{200, 201, 404, 500} {
			e := entry(code, "")
			e.Write = code == 201
			log.Log(e)
		}
		var got string
		for line := range strings.Lines(out.String()) {
			_, rest, _ := strings.Cut(line, "code=")
			got += rest[:4]
		}
		if got != want {
			t.Errorf("%s logs %q, want %q", policy, got, want)
		}
		if err := policy.Check(); err != nil {
			t.Error(err)
		}
	}
	if requestlog.Policy("some").Check() == nil {
		t.Error("an unknown policy is accepted")
	}
}
