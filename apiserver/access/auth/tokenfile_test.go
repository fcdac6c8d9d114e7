package auth_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/access/auth"
)

func writeTokens(t *testing.T, path, lines string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestTokenFileMode(t *testing.T) {
	t.Parallel()
	for mode, taken := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: true, 0o644: false, 0o660: false, 0o604: false} {
		path := filepath.Join(t.TempDir(), "tokens")
		writeTokens(t, path, "t,jane,u1\n", mode)
		_, err := auth.NewAuthenticator([]byte("key"), path)
		if taken && err != nil || !taken && (err == nil || !strings.Contains(err.Error(), "run chmod 600 "+path)) {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}

// TestTokenFileChanges checks that tokens are accepted soon after they are added to the file, and
// rejected soon after they are removed, even if they were used before. A file that cannot be read
// changes nothing.
func TestTokenFileChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens")
	writeTokens(t, path, "t1,jane,u1\n", 0o600)
	synctest.Test(t, func(t *testing.T) {
		a, err := auth.NewAuthenticator([]byte("key"), path)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx, slog.New(slog.NewTextHandler(&log, nil)), func(error) {}) }()
		valid := func(when string, want ...string) {
			t.Helper()
			time.Sleep(10 * time.Second) // in the bubble's time; the file is checked meanwhile
			synctest.Wait()
			for _, token := range []string{"t1", "t2", "t3"} {
				_, err := a.Token(token, time.Now())
				if (err == nil) != strings.Contains(strings.Join(want, " "), token) {
					t.Errorf("%s: token %s: %v, want %v alone to be valid", when, token, err, want)
				}
			}
		}
		valid("at first", "t1")
		writeTokens(t, path, "t1,jane,u1\nt2,joe,u2\n", 0o600)
		valid("with another one", "t1", "t2")
		writeTokens(t, path, "t2,joe,u2\n", 0o600)
		valid("without the first", "t2")
		writeTokens(t, path, "t2,joe,u2\nt3\n", 0o600)
		valid("with a bad line", "t2")
		writeTokens(t, path, "t3,jill,u3,\"devs\"\n", 0o644)
		valid("readable by others", "t2")
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		valid("repaired", "t3")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		valid("without the file", "t3")
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "can't be read"); n != 3 || strings.Contains(log.String(), "t3") {
			t.Errorf("%d faults logged, want 3, and no token:\n%s", n, &log)
		}
	})
}

// TestWithdrawnTokens: a static token that is removed, or given to another user, is withdrawn, and
// those that stay are not.
func TestWithdrawnTokens(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens")
	writeTokens(t, path, "stays,jane,u1,devs\nremoved,joe,u2\ngiven,jill,u3\n", 0o600)
	synctest.Test(t, func(t *testing.T) {
		a, err := auth.NewAuthenticator([]byte("key"), path)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx, slog.New(slog.DiscardHandler), func(error) {}) }()
		withdrawn := make(map[string]context.Context)
		for _, token := range []string{"stays", "removed", "given"} {
			c, err := a.Authenticate(http.Header{"Authorization": {"Bearer " + token}}, time.Now())
			if err != nil || c.Withdrawn.Err() != nil || !c.Expires.IsZero() {
				t.Fatalf("%s: %+v, %v", token, c, err)
			}
			withdrawn[token] = c.Withdrawn
		}
		writeTokens(t, path, "given,joe,u2\n# moved\nstays,jane,u1,devs\n", 0o600)
		time.Sleep(6 * time.Second) // of the bubble: the file is looked at meanwhile
		synctest.Wait()
		for token, want := range map[string]bool{"stays": false, "removed": true, "given": true} {
			if got := withdrawn[token].Err() != nil; got != want {
				t.Errorf("%s: withdrawn %v, want %v", token, got, want)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
