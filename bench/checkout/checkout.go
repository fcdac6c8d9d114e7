package checkout

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Worktree is a commit that is checked out in a folder of its own.
type Worktree struct {
	Commit string // its abbreviated hash
	Dir    string
}

// Add checks out a commit, or what a tag or a branch names, to dir. The caller must call
// Remove.
func Add(ctx context.Context, dir, commit string) (*Worktree, error) {
	hash, err := git(ctx, "rev-parse", "--short", "--verify", commit+"^{commit}")
	if err != nil {
		return nil, err
	}
	if _, err := git(ctx, "worktree", "add", "--detach", dir, hash); err != nil {
		return nil, err
	}
	return &Worktree{Commit: hash, Dir: dir}, nil
}

// Remove removes the folder, also if ctx is done, and what git knows of it.
func (w *Worktree) Remove(ctx context.Context) error {
	_, err := git(context.WithoutCancel(ctx), "worktree", "remove", "--force", w.Dir)
	return err
}

// WorkingCopy returns the abbreviated hash of the commit of the working copy, with "-dirty" if the
// working copy differs from it.
func WorkingCopy(ctx context.Context) (string, error) {
	return git(ctx, "describe", "--always", "--dirty", "--exclude", "*")
}

// Go runs go build or go test -c, with which args begin, in a folder of sources. A file in args has
// an absolute path. The binaries are static, and those of the same sources are the same in every
// folder.
func Go(ctx context.Context, source string, args ...string) error {
	args = append([]string{args[0], "-C", source, "-trimpath", "-buildvcs=false"}, args[1:]...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
