package thirdparty

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// CacheDir returns a folder for what is fetched and built. It is in the user's cache folder, where
// it outlives `make clean` and scratch copies.
func CacheDir(name string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, name)
}

// Commit describes the commit that is checked out.
func Commit(ctx context.Context) (string, error) {
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		return "", fmt.Errorf("find the commit: %w", err)
	}
	return strings.TrimSpace(string(commit)), nil
}

// Cell returns a text for a cell of a table in Markdown.
func Cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}
