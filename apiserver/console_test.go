package apiserver_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
)

// consoleFiles is the folder whose files the console serves.
const consoleFiles = "console/files"

// maxConsoleBytes bounds the files of the console together, which every binary and node holds in memory.
const maxConsoleBytes = 256 << 10

// TestConsoleServesItsFiles: each file is served to everybody, over both versions of HTTP, with
// headers that let a page run nothing but these files.
func TestConsoleServesItsFiles(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	clients := map[string]*http.Client{"HTTP/2": s.Client, "HTTP/1": s.NewHTTP1Client()}
	total := 0
	for _, path := range consolePaths(t) {
		body, err := os.ReadFile(filepath.Join(consoleFiles, path))
		if err != nil {
			t.Fatal(err)
		}
		total += len(body)
		for protocol, client := range clients {
			got, err := s.Try(client, "GET", "/console/"+path, "", "Authorization: ")
			if err != nil || got.Code != 200 || got.Body != string(body) {
				t.Fatalf("%s %s: %d, %d bytes, want the %d of the file (%v)", protocol, path, got.Code, len(got.Body), len(body), err)
			}
			checkConsoleHeaders(t, got.Header)
			head, err := s.Try(client, "HEAD", "/console/"+path, "", "Authorization: ")
			if err != nil || head.Code != 200 || head.Body != "" || head.Header.Get("Etag") != got.Header.Get("Etag") {
				t.Errorf("%s HEAD %s: %d %q %v (%v)", protocol, path, head.Code, head.Body, head.Header, err)
			}
			again, err := s.Try(client, "GET", "/console/"+path, "", "Authorization: ", "If-None-Match: "+got.Header.Get("Etag"))
			if err != nil || again.Code != 304 || again.Body != "" {
				t.Errorf("%s %s with the tag of the answer: %d %q (%v)", protocol, path, again.Code, again.Body, err)
			}
			checkConsoleHeaders(t, again.Header)
		}
	}
	if total > maxConsoleBytes {
		t.Errorf("the files have %d bytes, want at most %d", total, maxConsoleBytes)
	}
}

func TestConsolePage(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	page := s.Do("GET", "/console/", "", "Authorization: ")
	if page.Code != 200 || page.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(page.Body, "<title>Quorate</title>") {
		t.Errorf("%d %v %s", page.Code, page.Header, page.Body)
	}
	checkConsoleHeaders(t, page.Header)
	moved := s.Do("GET", "/console", "", "Authorization: ")
	if !strings.Contains(moved.Body, "<title>Quorate</title>") { // the client follows the redirect
		t.Errorf("without the slash: %d %s", moved.Code, moved.Body)
	}
}

// TestConsoleRefusesOtherRequests: no other method, and no other path, however it is written.
func TestConsoleRefusesOtherRequests(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		got := s.Do(method, "/console/main.js", "", "Authorization: ")
		check(t, got, want{405, "MethodNotAllowed", "", nil})
		if allow := got.Header.Get("Allow"); allow != "GET, HEAD" {
			t.Errorf("%s: Allow %q", method, allow)
		}
	}
	for _, path := range []string{
		"/console/none.js", "/console//main.js", "/console/./main.js", "/console/../console/main.js", "/console/%2e%2e/doc.go",
		"/console/files/main.js", "/console/..%2fdoc.go", "/console/main.js/", "/console/doc.go", "/console/Main.js", "/console/%00",
		"/console/..%5cdoc.go", "/consoles/main.js",
	} {
		if got := s.Do("GET", path, ""); got.Code != 404 {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
	check(t, s.Do("GET", "/console/", "", "Authorization: Bearer wrong"), want{401, "Unauthorized", "", nil})
}

// TestConsoleTakesSeats: the files are refused like other requests when a node has no seat left, so
// that nobody without credentials can starve those who have some.
func TestConsoleTakesSeats(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) {
		testserver.WithoutQueues(cfg)
		cfg.Limits.Reads = 1
	})
	takeRead(t, s)
	s.Eventually("files are refused", func() bool { return s.Do("GET", "/console/main.js", "", "Authorization: ").Code == 429 })
}

// TestConsoleFilesLoadNothingFromElsewhere: no file names another host, and none has inline code or
// styles, which the policy would refuse.
func TestConsoleFilesLoadNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	foreign := regexp.MustCompile(`(https?:)?//[a-z0-9.-]+\.[a-z]+|\son[a-z]+="|\sstyle="|<style|<script>|innerHTML|insertAdjacentHTML|\beval\(|new Function`)
	for _, path := range consolePaths(t) {
		text, err := os.ReadFile(filepath.Join(consoleFiles, path))
		if err != nil {
			t.Fatal(err)
		}
		// The name of the namespace of SVG is no address.
		plain := strings.ReplaceAll(string(text), "http://www.w3.org/2000/svg", "")
		for _, found := range foreign.FindAllString(plain, -1) {
			t.Errorf("%s has %q", path, found)
		}
	}
}

// checkConsoleHeaders checks the headers that every answer of the console has.
func checkConsoleHeaders(t *testing.T, h http.Header) {
	t.Helper()
	policy := h.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'",
		"base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("policy %q lacks %q", policy, part)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q is unsafe", policy)
	}
	for name, value := range map[string]string{
		"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-cache, private",
	} {
		if got := h.Get(name); got != value {
			t.Errorf("%s %q, want %q", name, got, value)
		}
	}
	if h.Get("Etag") == "" {
		t.Error("no Etag")
	}
}

// consolePaths returns the names of the files of the console.
func consolePaths(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := fs.WalkDir(os.DirFS(consoleFiles), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d files: %v", len(paths), err)
	}
	return paths
}
