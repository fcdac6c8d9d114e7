package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"quorate/chaos/thirdparty"
)

// prelude defines the functions that scripts use.
//
//go:embed prelude.sh
var prelude string

// fetch obtains software unless the cache has it, and returns its folder and what the script
// printed.
func (r *runner) fetch(ctx context.Context, s software) (dir, out string, err error) {
	dir = filepath.Join(r.cache, s.fileName())
	if s.Fetch == "" {
		return dir, "", nil
	}
	sum := sha256.Sum256([]byte(prelude + s.Fetch))
	stamp, want := filepath.Join(dir, ".fetched"), hex.EncodeToString(sum[:])
	if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
		return dir, "", nil
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return dir, "", err
	}
	fmt.Fprintf(r.log, "  fetch: %s\n", s.Source)
	if out, err = r.shell(ctx, fetchTimeout, dir, r.fetchEnv(dir), s.Fetch); err != nil {
		return dir, out, fmt.Errorf("not fetched: %w", err)
	}
	return dir, out, os.WriteFile(stamp, []byte(want), 0o644)
}

// env returns the variables that all scripts have.
func (r *runner) env(dir string) []string {
	return append(os.Environ(), "ROOT="+r.root, "SITE="+filepath.Join(r.root, "chaos/clients/operator/config"),
		"BIN="+r.bin(), "DIR="+dir, "PATH="+r.bin()+":"+os.Getenv("PATH"))
}

// fetchEnv returns the variables of scripts that build software: as releases are built, and in
// modules of their own.
func (r *runner) fetchEnv(dir string) []string {
	return append(r.env(dir), "CGO_ENABLED=0", "GOBIN="+r.bin(), "GOWORK=off")
}

// shell runs a script in a folder, stopping at the first command that fails, and returns what it
// printed. It leaves no process, as thirdparty.Program.Run.
func (r *runner) shell(ctx context.Context, timeout time.Duration, dir string, env []string, script string) (out string, err error) {
	printed, err := os.CreateTemp(r.scratch, "output-")
	if err != nil {
		return "", err
	}
	defer os.Remove(printed.Name())
	defer printed.Close()
	bash := thirdparty.Program{Path: "bash", Args: []string{"-euo", "pipefail", "-c", prelude + script}, Dir: dir, Env: env, Output: printed}
	err = bash.Run(ctx, timeout)
	text, readErr := os.ReadFile(printed.Name())
	return string(bytes.ToValidUTF8(text, []byte("\uFFFD"))), errors.Join(err, readErr)
}
