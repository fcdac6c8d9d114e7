package nodes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build builds the server into dir, statically linked but without the version and the flags of a
// release, and returns the path of the binary. The working directory must belong to the main module
// or to a module that depends on it; the build uses the main module's dependencies in both cases.
func Build(ctx context.Context, dir string) (string, error) {
	source, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "quorate").Output()
	if err != nil {
		return "", fmt.Errorf("find the source of the server: %w", err)
	}
	binary := filepath.Join(dir, "quorate")
	cmd := exec.CommandContext(ctx, "go", "build", "-C", strings.TrimSpace(string(source)), "-o", binary, "./cmd/quorate")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return binary, nil
}
