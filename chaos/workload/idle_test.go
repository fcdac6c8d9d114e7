package workload_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
	"quorate/chaos/workload"
)

// TestIdle checks that all kinds of reads of an idle cluster return the last write, and that they
// detect a write and a node that does not respond.
func TestIdle(t *testing.T) {
	b := newBench(t)
	within := func(d time.Duration) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		t.Cleanup(cancel)
		return ctx
	}
	start := func(namespace string) *workload.Idle {
		load, err := workload.Prepare(within(patience), workload.Config{
			Namespace: namespace, Targets: b.targets, Recorder: b.recorder, Seed: 1, Clients: 1, Keys: 12, Log: b.config().Log,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(load.Close)
		if err := load.Fill(within(patience)); err != nil {
			t.Fatal(err)
		}
		idle, err := workload.StartIdle(t.Context(), load)
		if err != nil {
			t.Fatal(err)
		}
		if err := idle.Round(within(patience)); err != nil {
			t.Error(err)
		}
		idle.Page(t.Context())
		return idle
	}

	for _, r := range start("quiet").Close() {
		if r.Problem != "" || r.Answered < r.Invoked || r.Node == "" {
			t.Errorf("%+v", r)
		}
	}

	idle := start("written")
	if _, outcome, err := b.node.Client.Create(within(patience), "written", "foreign", map[string]string{"value": "x"}); outcome != client.OK {
		t.Fatal(err)
	}
	missing := idle.Round(within(3 * time.Second))
	idle.Page(t.Context())
	reads := idle.Close()
	for _, kind := range []string{"list", "table", "protobuf", "cached list", "watch", "paged list", "list not older than a version"} {
		noticed := slices.ContainsFunc(reads, func(r history.IdleRead) bool { return r.Kind == kind && r.Problem != "" })
		if missed := missing != nil && strings.Contains(missing.Error(), kind); !noticed && !missed && kind != "protobuf" {
			t.Errorf("%s did not notice a foreign object", kind)
		}
	}

	idle = start("dead")
	if err := b.fleet.Kill(within(patience), b.node.Name); err != nil {
		t.Fatal(err)
	}
	err := idle.Round(within(2 * time.Second))
	if err == nil || !strings.Contains(err.Error(), "cached get on "+b.node.Name) {
		t.Errorf("of a node that is dead: %v", err)
	}
	if last := idle.Close(); !slices.ContainsFunc(last, func(r history.IdleRead) bool { return r.Kind == "livez" && r.Problem != "" }) {
		t.Error("livez of a node that is dead was answered")
	}
}
