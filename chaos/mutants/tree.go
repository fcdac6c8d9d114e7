package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tree is a scratch copy of the project. Its place is the same in every run, because go caches
// builds by place.
type tree struct{ root string }

// sources lists the project's files: those that git knows or would add.
func sources(ctx context.Context, root string) ([]string, error) {
	names, err := git(ctx, root, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(names, "\x00"), "\x00"), nil
}

// mirror makes dir a copy of the named files below root. What is equal already stays untouched.
func mirror(root, dir string, names []string) (*tree, error) {
	wanted := map[string]bool{}
	for _, name := range names {
		err := copyFile(filepath.Join(root, name), filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) { // deleted, and not yet committed
			continue
		}
		if err != nil {
			return nil, err
		}
		wanted[name] = true
	}
	return &tree{dir}, removeOthers(dir, wanted)
}

func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", from)
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if have, err := os.ReadFile(to); err == nil && bytes.Equal(have, content) {
		return os.Chmod(to, info.Mode().Perm())
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(to, content, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Chmod(to, info.Mode().Perm())
}

// removeOthers removes the files below dir that are not wanted, such as those of an earlier commit.
func removeOthers(dir string, wanted map[string]bool) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || wanted[filepath.ToSlash(name)] {
			return err
		}
		return os.Remove(path)
	})
}

// with has do run while a mutant's edit is in the tree.
func (t *tree) with(m *mutant, do func() error) (err error) {
	edited, original, err := m.edit(t.root)
	if err != nil {
		return err
	}
	path := filepath.Join(t.root, m.File)
	if err := os.WriteFile(path, edited, 0o644); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, original, 0o644)) }()
	return do()
}

// module returns the folder of the module that a package of the tree belongs to, and the package's
// path in it.
func (t *tree) module(pkg string) (dir, path string) {
	dir = filepath.Join(t.root, pkg)
	for dir != t.root {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	rel, err := filepath.Rel(dir, filepath.Join(t.root, pkg))
	if err != nil { // both are below the root
		return t.root, pkg
	}
	return dir, "./" + filepath.ToSlash(rel)
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(out), nil
}

// commit returns the commit that root is at, marked when anything but the results differs.
func commit(ctx context.Context, root string) (string, error) {
	id, err := git(ctx, root, "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "", err
	}
	changed, err := git(ctx, root, "status", "--porcelain", "--", ".", ":!chaos/mutants/results.jsonl", ":!chaos/mutants/README.md")
	if err != nil {
		return "", err
	}
	id = strings.TrimSpace(id)
	if changed != "" {
		id += "-dirty"
	}
	return id, nil
}
