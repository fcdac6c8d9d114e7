package failpoint

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// command is the package to build.
const command = "quorate/cmd/quorate"

//go:embed overlay
var overlays embed.FS

// Options of a build. The zero value builds from the module of the working directory.
type Options struct {
	Source string // a directory of Quorate's module, or of one that depends on it; empty: the working directory
	Clock  bool   // the wall clock can be moved; everything is compiled anew for that, the standard library included
}

// Build compiles quorate with all failpoints into dir, which must exist, and returns the binary's
// path. It does not modify the sources.
func Build(ctx context.Context, dir string, o Options) (binary string, err error) {
	work, err := os.MkdirTemp(dir, "overlay-")
	if err != nil {
		return "", fmt.Errorf("build with failpoints: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	binary = filepath.Join(dir, "quorate")
	b := builder{source: o.Source, work: work, replace: map[string]string{}}
	if err := b.build(ctx, binary, o.Clock); err != nil {
		return "", fmt.Errorf("build with failpoints: %w", err)
	}
	return binary, nil
}

// builder collects the files that replace sources in the compilation.
type builder struct {
	source  string
	work    string            // where the replacements are
	replace map[string]string // by the path of the source, which need not exist
}

func (b *builder) build(ctx context.Context, binary string, clock bool) error {
	module, err := goTool(ctx, b.source, "list", "-m", "-f", "{{.Dir}}", "quorate")
	if err != nil {
		return err
	}
	b.source = strings.TrimSpace(module)
	if err := errors.Join(b.points(ctx), b.broken()); err != nil {
		return err
	}
	if clock {
		std, err := goTool(ctx, b.source, "env", "GOROOT")
		if err != nil {
			return err
		}
		if err := b.clock(strings.TrimSpace(std)); err != nil {
			return fmt.Errorf("clock: %w", err)
		}
	}
	return b.compile(ctx, binary)
}

// put replaces the file at path by content in the compilation.
func (b *builder) put(path string, content []byte) error {
	if _, ok := b.replace[path]; ok {
		return fmt.Errorf("%s is replaced twice", path)
	}
	file := filepath.Join(b.work, fmt.Sprintf("%d.go", len(b.replace)))
	b.replace[path] = file
	return os.WriteFile(file, content, 0o600)
}

// points replaces the files with failpoints.
func (b *builder) points(ctx context.Context) error {
	files, err := sources(ctx, b.source)
	if err != nil {
		return err
	}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rewritten, binding, err := rewrite(path, content)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if rewritten == nil {
			continue
		}
		if err := errors.Join(b.put(path, rewritten), b.put(strings.TrimSuffix(path, ".go")+".fail.go", binding)); err != nil {
			return err
		}
	}
	return nil
}

// The text that reads the wall clock, and its replacement. The build fails if the standard library
// has another text.
const (
	clockRead  = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	clockMoved = clockRead + "\tsec, nsec = shifted(sec, nsec)\n"
)

// clock replaces time.Now, and makes the command accept changes of the clock. std is GOROOT.
func (b *builder) clock(std string) error {
	folder := filepath.Join(std, "src", "time")
	path := filepath.Join(folder, "time.go")
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := bytes.Count(content, []byte(clockRead)); n != 1 {
		return fmt.Errorf("%s reads the clock in another way than expected, or %d times", path, n)
	}
	return errors.Join(
		b.put(path, bytes.Replace(content, []byte(clockRead), []byte(clockMoved), 1)),
		b.add(folder, "overlay/clock/shift.txt"),
		b.add(filepath.Join(b.source, "cmd", "quorate"), "overlay/clock/file.txt"),
	)
}

// broken adds the code that only points that break rules need.
func (b *builder) broken() error {
	const root = "overlay/broken"
	return fs.WalkDir(overlays, root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return b.add(filepath.Join(b.source, strings.TrimPrefix(filepath.Dir(path), root)), path)
	})
}

// add adds an embedded file to a folder.
func (b *builder) add(folder, embedded string) error {
	content, err := overlays.ReadFile(embedded)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(embedded), ".txt") + ".fail.go"
	return b.put(filepath.Join(folder, name), content)
}

func (b *builder) compile(ctx context.Context, binary string) error {
	overlay, err := json.Marshal(map[string]any{"Replace": b.replace})
	if err != nil {
		return err
	}
	path := filepath.Join(b.work, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return err
	}
	_, err = goTool(ctx, b.source, "build", "-overlay", path, "-o", binary, command)
	return err
}

// goTool runs the go command in a directory of the module and returns what it prints.
func goTool(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.Bytes())
	}
	return stdout.String(), nil
}
