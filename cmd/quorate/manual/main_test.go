package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPages: each command has a page with its flags, and none has the name of the machine that made
// it.
func TestPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]string{
		"quorate.1": "Exit codes", "quorate-serve.1": `--bootstrap-expect`, "quorate-status.1": `--watch`,
		"quorate-token-create.1": `--user`, "quorate-init.1": "commented",
	} {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %s", page, want)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	serve, err := os.ReadFile(filepath.Join(dir, "quorate-serve.1"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(serve), `--name\fP="`+strings.ToLower(host)) {
		t.Error("a page has the name of this machine as a default")
	}
}
