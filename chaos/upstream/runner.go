package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"quorate/chaos/nodes"
	"quorate/chaos/thirdparty"
)

// programs are what a run needs.
type programs struct {
	release string // of Kubernetes, such as v1.36.3
	sources string // folder of its module
	server  string
	bin     string // folder of the programs below
}

// runner runs suites. Everything it writes is in the folder work.
type runner struct {
	programs
	work     string
	only     *regexp.Regexp
	expected expectations
	log      io.Writer
}

// suites is the module that pins the release, below the project's root.
const suites = "chaos/upstream/suites"

// build builds the server and the programs of the pinned release, unless they are in Go's cache.
func build(ctx context.Context, cache string) (programs, error) {
	bin, err := filepath.Abs(filepath.Join(cache, "bin"))
	if err != nil {
		return programs{}, err
	}
	p := programs{bin: bin}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return p, err
	}
	module, err := goCommand(ctx, "list", "-m", "-f", "{{.Version}} {{.Dir}}", "k8s.io/kubernetes")
	if err != nil {
		return p, err
	}
	p.release, p.sources, _ = strings.Cut(strings.TrimSpace(module), " ")
	if p.sources == "" { // not yet in Go's cache
		if _, err := goCommand(ctx, "mod", "download", "k8s.io/kubernetes"); err != nil {
			return p, err
		}
		if p.sources, err = goCommand(ctx, "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes"); err != nil {
			return p, err
		}
		p.sources = strings.TrimSpace(p.sources)
	}
	version := "-X k8s.io/component-base/version.gitVersion=" + p.release
	if _, err := goCommand(ctx, "build", "-trimpath", "-ldflags", version, "-o", bin+"/",
		"./e2e", "./node", "k8s.io/kubernetes/cmd/kube-controller-manager",
		"k8s.io/kubernetes/cmd/kubectl", "k8s.io/kubernetes/cmd/kubectl-convert"); err != nil {
		return p, err
	}
	p.server, err = nodes.Build(ctx, bin)
	return p, err
}

// goCommand runs the go command in the module that pins the release.
func goCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{args[0], "-C", suites}, args[1:]...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}

// start starts a cluster that reports the release's version, with its data in a new folder. The
// caller must close it.
func (r runner) start(ctx context.Context, binary, name string, flags ...string) (*nodes.Processes, error) {
	flags = append([]string{"--reported-version", strings.TrimPrefix(r.release, "v")}, flags...)
	return thirdparty.StartCluster(ctx, binary, filepath.Join(r.work, name, "nodes"), flags)
}

// execute runs a program with its output in a file, as thirdparty.Program.Run.
func (r runner) execute(ctx context.Context, timeout time.Duration, output string, env []string, name string, args ...string) error {
	printed, err := os.Create(output)
	if err != nil {
		return err
	}
	defer printed.Close()
	program := thirdparty.Program{Path: name, Args: args, Env: append(os.Environ(), env...), Output: printed}
	if err := program.Run(ctx, timeout); err != nil {
		return fmt.Errorf("%s: %w (see %s)", filepath.Base(name), err, output)
	}
	return nil
}
