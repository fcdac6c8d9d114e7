package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The versions that are compared with, the newest when they were chosen.
const (
	kubernetesVersion = "v1.37.2"
	etcdVersion       = "v3.7.3"
)

const (
	kubernetesModule = "k8s.io/kubernetes"
	etcdModule       = "go.etcd.io/etcd/server/v3"
	// buildTimeout bounds the build of one binary. On two cores kube-apiserver takes ten minutes.
	buildTimeout = time.Hour
)

// binaries are the peer's programs.
type binaries struct {
	APIServer, Etcd string
}

// buildPeer builds the peer's programs in a folder for each version, unless they are there or in
// use.
func buildPeer(ctx context.Context, cache string, use binaries) (binaries, error) {
	if use.Etcd == "" {
		use.Etcd = filepath.Join(cache, "etcd-"+etcdVersion)
		if err := buildOnce(ctx, use.Etcd, etcdModule, etcdVersion, etcdModule, ""); err != nil {
			return use, err
		}
	}
	if use.APIServer == "" {
		use.APIServer = filepath.Join(cache, "kube-apiserver-"+kubernetesVersion)
		flags := "-X k8s.io/component-base/version.gitVersion=" + kubernetesVersion
		if err := buildOnce(ctx, use.APIServer, kubernetesModule, kubernetesVersion, kubernetesModule+"/cmd/kube-apiserver", flags); err != nil {
			return use, err
		}
	}
	return use, nil
}

// buildOnce builds a package of a module to a file, unless the file exists.
func buildOnce(ctx context.Context, file, module, version, pkg, ldflags string) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	fmt.Fprintf(os.Stderr, "peers: building %s %s\n", pkg, version)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := writeModule(ctx, dir, module, version); err != nil {
		return err
	}
	built := filepath.Join(dir, "built")
	if _, err := goCommand(ctx, dir, "build", "-mod=mod", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", built, pkg); err != nil {
		return err
	}
	return os.Rename(built, file)
}

// goModule is what `go mod edit -json` prints of a module.
type goModule struct {
	Go      string
	Replace []struct {
		Old struct{ Path string }
		New struct{ Path, Version string }
	}
}

// writeModule writes a module to dir that requires one version of another.
func writeModule(ctx context.Context, dir, module, version string) error {
	out, err := goCommand(ctx, dir, "mod", "download", "-json", module+"@"+version)
	if err != nil {
		return err
	}
	var downloaded struct{ GoMod string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return fmt.Errorf("download %s: %w", module, err)
	}
	if out, err = goCommand(ctx, dir, "mod", "edit", "-json", downloaded.GoMod); err != nil {
		return err
	}
	var parsed goModule
	if err := json.Unmarshal(out, &parsed); err != nil {
		return fmt.Errorf("read go.mod of %s: %w", module, err)
	}
	return os.WriteFile(filepath.Join(dir, "go.mod"), []byte(moduleFile(module, version, parsed)), 0o644)
}

// moduleFile returns a go.mod that requires a module. Kubernetes replaces its staging modules,
// which it requires as v0.0.0, with folders that its module does not have; they are published with
// the same release as v0 instead of v1. Those of etcd are required by their versions.
func moduleFile(module, version string, required goModule) string {
	var text strings.Builder
	fmt.Fprintf(&text, "module quorate/bench/peers/build\n\ngo %s\n\nrequire %s %s\n", required.Go, module, version)
	if module != kubernetesModule {
		return text.String()
	}
	staging := "v0" + strings.TrimPrefix(version, "v1")
	for _, r := range required.Replace {
		if r.New.Version == "" {
			fmt.Fprintf(&text, "replace %s => %s %s\n", r.Old.Path, r.Old.Path, staging)
		}
	}
	return text.String()
}

// goCommand runs the go command in a folder that no workspace contains.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}
