package workload_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quorate/chaos/client"
	"quorate/chaos/history"
	"quorate/chaos/nodes"
	"quorate/chaos/workload"
)

// patience bounds each wait on a busy machine.
const patience = time.Minute

// directory holds the server that the tests run.
var directory string

func TestMain(m *testing.M) {
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(directory); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}))
}

func build() (err error) {
	if directory, err = os.MkdirTemp("", "quorate-workload-"); err != nil {
		return err
	}
	command := exec.Command("go", "build", "-o", binary(), "quorate/cmd/quorate")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return nil
}

func binary() string { return filepath.Join(directory, "quorate") }

// bench is one node and a load on it.
type bench struct {
	*testing.T
	fleet    *nodes.Processes
	recorder *history.Recorder
	targets  *workload.Targets
	node     workload.Target

	credentials client.Credentials // of node
}

// newBench starts a node, which ends with the test.
func newBench(t *testing.T) *bench {
	t.Helper()
	fleet, err := nodes.NewProcesses(nodes.ProcessesConfig{Binary: binary(), Dir: t.TempDir(), Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	credentials, err := fleet.StartAll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	node := fleet.Nodes()[0]
	one, err := client.New(node.API, credentials)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(one.Close)
	target := workload.Target{Name: node.Name, Client: one}
	return &bench{t, fleet, history.NewRecorder(), workload.NewTargets(target), target, credentials}
}

// config is for a load of every kind of client.
func (b *bench) config() workload.Config {
	return workload.Config{
		Namespace: "load", Targets: b.targets, Recorder: b.recorder, Seed: 1, Clients: 60, Keys: 15, Listers: 2, Pagers: 2,
		CachedReaders: 4, Watchers: 6, Log: slog.New(slog.NewTextHandler(b.Output(), nil)),
	}
}

// start begins a load, which ends with the test.
func (b *bench) start(c workload.Config) *workload.Load {
	b.Helper()
	load, err := workload.Start(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(load.Close)
	return load
}

// await waits for more acknowledged writes.
func (b *bench) await(more int) {
	b.Helper()
	b.until(func(from int) bool { return b.recorder.Acknowledged() >= from+more })
}

func (b *bench) until(reached func(from int) bool) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	from := b.recorder.Acknowledged()
	if err := nodes.Await(ctx, func() bool { return reached(from) }); err != nil {
		b.Fatal(err)
	}
}

// finish ends a load in order and returns what it recorded.
func (b *bench) finish(load *workload.Load) history.Record {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	load.Stop()
	if err := load.Settle(ctx); err != nil {
		b.Fatal(err)
	}
	if err := load.Finals(ctx); err != nil {
		b.Fatal(err)
	}
	return load.Record()
}
