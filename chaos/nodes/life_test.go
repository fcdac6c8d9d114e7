package nodes_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quorate/chaos/capability"
	"quorate/chaos/client"
	"quorate/chaos/disk"
	"quorate/chaos/nodes"
)

func TestNodeThatEndsByItselfIsNoticed(t *testing.T) {
	f := prepare(t, nodes.ProcessesConfig{Count: 1, Flags: []string{"--no-such-flag"}})
	select {
	case <-f.Exited("n1"):
	default:
		t.Error("a node that never started is said to run")
	}
	for range 2 { // it can be started again and then ends again
		f.must(f.Start(f.ctx, "n1"))
		f.await("n1 ends", func() bool { runs, err := f.Running(f.ctx, "n1"); f.must(err); return !runs })
		<-f.Exited("n1")
	}
	endings := f.Endings()
	if len(endings) != 2 {
		t.Fatalf("%d ends were noticed, want 2: %v", len(endings), endings)
	}
	for _, e := range endings {
		if e.Node != "n1" || e.How != "exit status 2" || !strings.Contains(e.Tail, "no-such-flag") {
			t.Errorf("%+v", e)
		}
	}
	f.must(f.Kill(f.ctx, "n1")) // has no effect
	if _, err := f.StartAll(f.ctx); err == nil || !strings.Contains(err.Error(), "n1.log") {
		t.Errorf("all nodes started: %v", err)
	}
}

func TestCallsWithoutTimeReturnErrors(t *testing.T) {
	f := prepare(t, nodes.ProcessesConfig{Count: 1})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Start(over, "n1"); !errors.Is(err, context.Canceled) {
		t.Errorf("started: %v", err)
	}
	f.startAll()
	f.must(f.Pause(f.ctx, "n1"))
	if err := f.Stop(over, "n1"); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	<-f.Exited("n1") // the signal was sent all the same
	if endings := f.Endings(); len(endings) > 0 {
		t.Errorf("nodes that were ordered to end count as ended by themselves: %v", endings)
	}
	for what, do := range map[string]func(context.Context, string) error{
		"start": f.Start, "kill": f.Kill, "stop": f.Stop, "pause": f.Pause, "resume": f.Resume, "wipe": f.Wipe, "forget": f.Forget,
	} {
		if err := do(f.ctx, "n9"); err == nil {
			t.Errorf("%s of a node that isn't there succeeded", what)
		}
	}
}

func TestCapabilitiesFollowTheConfiguration(t *testing.T) {
	f := prepare(t, nodes.ProcessesConfig{Count: 1})
	if _, able := nodes.As[nodes.Network](f); able {
		t.Error("nodes on loopback have no network")
	}
	if _, able := nodes.As[nodes.Disks](f); able {
		t.Error("no disks were configured")
	}
	if _, able := nodes.As[nodes.Clocks](f); able {
		t.Error("what ships has no clock that can be moved")
	}
	if _, able := nodes.As[nodes.Grower](f); !able {
		t.Error("any fleet of processes can grow")
	}
}

// TestPowerCutLosesUnsyncedData checks that a power cut loses exactly the data of a node that
// was not synced.
func TestPowerCutLosesUnsyncedData(t *testing.T) {
	capability.Require(t, disk.Available())
	f := prepare(t, nodes.ProcessesConfig{Count: 1, Disks: true})
	f.startAll()
	if _, outcome, err := f.client("n1").Create(f.ctx, "default", "kept", nil); outcome != client.OK {
		t.Fatal(outcome, err)
	}
	loose := filepath.Join(f.DataDir("n1"), "loose")
	f.must(f.Kill(f.ctx, "n1")) // otherwise it could sync a later name, and this one with it
	f.must(os.WriteFile(loose, []byte("never synced"), 0o600))
	f.must(f.Disk("n1").Crash())
	if _, err := os.Stat(loose); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what wasn't synced is there after a power cut: %v", err)
	}
	f.must(f.Start(f.ctx, "n1"))
	f.awaitReady("n1")
	if _, outcome, err := f.client("n1").Get(f.ctx, "default", "kept"); outcome != client.OK {
		t.Errorf("an acknowledged write is lost: %v %v", outcome, err)
	}
	f.must(f.Kill(f.ctx, "n1"))
	f.must(f.Wipe(f.ctx, "n1"))
	f.must(f.Disk("n1").Crash())
	if left, err := os.ReadDir(f.DataDir("n1")); err != nil || len(left) > 0 {
		t.Errorf("%v is there after a power cut that came after a wipe: %v", left, err)
	}
}
