package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quorate/chaos/nodes"
	"quorate/chaos/thirdparty"
)

// fetchTimeout bounds the download and the build of one entry of the catalog.
const fetchTimeout = 30 * time.Minute

// runner obtains software and tries it. All of it happens in two folders: the cache, which stays,
// and a scratch folder.
type runner struct {
	root    string // of the project
	cache   string
	scratch string
	server  string // path of the server's binary
	log     io.Writer
}

// newRunner builds the server and the project's own programs that steps use. The caller must call
// close.
func newRunner(ctx context.Context, cache string) (*runner, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	if cache, err = filepath.Abs(cache); err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "quorate-software-")
	if err != nil {
		return nil, err
	}
	r := &runner{root: root, cache: cache, scratch: scratch, log: os.Stderr}
	if err := os.MkdirAll(r.bin(), 0o755); err != nil {
		return nil, errors.Join(err, r.close())
	}
	if r.server, err = nodes.Build(ctx, r.bin()); err != nil {
		return nil, errors.Join(err, r.close())
	}
	if out, err := r.shell(ctx, fetchTimeout, scratch, r.fetchEnv(cache), ownPrograms); err != nil {
		return nil, errors.Join(fmt.Errorf("build kubectl and the operator: %w\n%s", err, out), r.close())
	}
	return r, nil
}

// ownPrograms builds kubectl, in the version that the tests of stock clients pin, and the operator.
const ownPrograms = `
module=$(go list -C "$ROOT/chaos/clients" -m -f '{{.Version}}' k8s.io/kubectl)
go build -C "$ROOT/chaos/clients" -ldflags "-X k8s.io/component-base/version.gitVersion=v1.${module#v0.}" -o "$BIN/kubectl" ./kubectl
go build -C "$ROOT/chaos/clients" -o "$BIN/operator" ./operator
`

func (r *runner) bin() string { return filepath.Join(r.cache, "bin") }

// close deletes the scratch folder.
func (r *runner) close() error { return os.RemoveAll(r.scratch) }

// try obtains software and runs its steps, each of which gives a trial, also if it couldn't run.
func (r *runner) try(ctx context.Context, s software) []trial {
	fmt.Fprintf(r.log, "%s %s\n", s.Name, s.Version)
	if s.Missing != "" {
		return []trial{{software: s, result: skipped, output: s.Missing}}
	}
	dir, out, err := r.fetch(ctx, s)
	if err != nil {
		return []trial{{software: s, result: skipped, output: fmt.Sprintf("%v\n%s", err, tail(out, reasonLines))}}
	}
	work := filepath.Join(r.scratch, s.fileName())
	fleet, err := thirdparty.StartCluster(ctx, r.server, filepath.Join(work, "nodes"), nil)
	if err != nil {
		return []trial{{software: s, result: failed, output: err.Error()}}
	}
	trials := r.steps(ctx, s, dir, work, fleet)
	if err := fleet.Close(context.WithoutCancel(ctx)); err != nil {
		trials = append(trials, trial{software: s, step: step{Tried: "the nodes stop"}, result: failed, output: err.Error()})
	}
	return trials
}

// steps runs the steps of one entry, each on the node after that of the step before. They share a
// working folder and a home.
func (r *runner) steps(ctx context.Context, s software, dir, work string, fleet *nodes.Processes) (trials []trial) {
	home := filepath.Join(work, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return []trial{{software: s, result: failed, output: err.Error()}}
	}
	for i, step := range s.Steps {
		env := r.env(dir)
		for n, node := range fleet.Nodes() {
			env = append(env, fmt.Sprintf("NODE%d=%s", n+1, filepath.Join(fleet.DataDir(node.Name), "admin.kubeconfig")))
		}
		node := fleet.Nodes()[i%thirdparty.NodeCount]
		data := fleet.DataDir(node.Name)
		env = append(env, "HOME="+home, "DATA="+data, "API="+node.API, "KUBECONFIG="+filepath.Join(data, "admin.kubeconfig"))
		timeout := step.Timeout
		if timeout == 0 {
			timeout = defaultTimeout
		}
		note := filepath.Join(work, fmt.Sprintf("note-%d", i+1))
		env = append(env, "NOTE="+note)
		began := time.Now()
		out, err := r.shell(ctx, timeout, home, env, step.Script)
		one := trial{software: s, step: step, result: judge(step, err), took: time.Since(began), output: out}
		if err != nil {
			one.output += err.Error()
		}
		if text, err := os.ReadFile(note); err == nil { // most steps write none
			one.note = strings.TrimSpace(string(text))
		}
		fmt.Fprintf(r.log, "  %s: %s (%.1f s)\n", step.Tried, one.result, one.took.Seconds())
		trials = append(trials, one)
	}
	return trials
}
