package nodes_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quorate/chaos/nodes"
)

// script returns a command that records its calls. It fails if an argument contains the word fail
// and the file failing exists.
func script(t *testing.T) (command string, calls func() []string, failing string) {
	t.Helper()
	dir := t.TempDir()
	command, failing = filepath.Join(dir, "do"), filepath.Join(dir, "failing")
	text := "#!/bin/sh\necho \"$*\" >> " + dir + "/calls\nif [ -e " + failing + " ]; then echo it is broken >&2; exit 3; fi\n"
	if err := os.WriteFile(command, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return command, func() []string {
		text, err := os.ReadFile(filepath.Join(dir, "calls"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		_ = os.Remove(filepath.Join(dir, "calls")) // it may not exist
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}, failing
}

func twoNodes() []nodes.Node {
	return []nodes.Node{{Name: "n1", API: "https://a:1"}, {Name: "n 2", API: "https://b:2"}}
}

func TestCommands(t *testing.T) {
	do, calls, failing := script(t)
	fleet, err := nodes.NewCommands(nodes.CommandsConfig{
		Nodes: twoNodes(), Kill: do + " kill {name}", Start: do + " start {name} now", Stop: do + " stop {name}",
		Pause: do + " pause {name}", Resume: do + " resume {name}", Wipe: do + " wipe {name}",
	})
	if err != nil {
		t.Fatal(err)
	}
	for want, act := range map[string]func(context.Context, string) error{
		"kill n 2": fleet.Kill, "start n 2 now": fleet.Start, "stop n 2": fleet.Stop,
		"pause n 2": fleet.Pause, "resume n 2": fleet.Resume, "wipe n 2": fleet.Wipe,
	} {
		if err := act(t.Context(), "n 2"); err != nil {
			t.Error(err)
		}
		if got := calls(); !slices.Equal(got, []string{want}) {
			t.Errorf("%q was run, want %q", got, want)
		}
	}
	if err := os.WriteFile(failing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := fleet.Kill(t.Context(), "n1"); err == nil || !strings.Contains(err.Error(), "it is broken") {
		t.Errorf("a command that fails gives %v", err)
	}
}

// TestCommandsThatAreMissing checks that a fleet has exactly the capabilities that it has commands
// for.
func TestCommandsThatAreMissing(t *testing.T) {
	few, err := nodes.NewCommands(nodes.CommandsConfig{Nodes: twoNodes(), Kill: "kill", Start: "start"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := nodes.NewCommands(nodes.CommandsConfig{
		Nodes: twoNodes(), Kill: "kill", Start: "start", Stop: "stop", Pause: "pause", Resume: "resume", Wipe: "wipe", Running: "runs",
		Cut: "cut", Heal: "heal", Binary: "quorate", Kubeconfig: "file",
	})
	if err != nil {
		t.Fatal(err)
	}
	for fleet, want := range map[*nodes.Commands]bool{few: false, all: true} {
		_, stops := nodes.As[nodes.Stopper](fleet)
		_, pauses := nodes.As[nodes.Pauser](fleet)
		_, wipes := nodes.As[nodes.Wiper](fleet)
		_, cuts := nodes.As[nodes.Network](fleet)
		_, sees := nodes.As[nodes.Running](fleet)
		_, operates := nodes.As[nodes.Operator](fleet)
		if stops != want || pauses != want || wipes != want || cuts != want || sees != want || operates != want {
			t.Errorf("stops %v, pauses %v, wipes %v, cuts %v, sees %v, operates %v: want %v", stops, pauses, wipes, cuts, sees, operates, want)
		}
		if _, grows := nodes.As[nodes.Grower](fleet); grows {
			t.Error("commands add no nodes")
		}
	}
	for name, c := range map[string]nodes.CommandsConfig{
		"no nodes":             {Kill: "kill", Start: "start"},
		"no way to start":      {Nodes: twoNodes(), Kill: "kill"},
		"paused for ever":      {Nodes: twoNodes(), Kill: "kill", Start: "start", Pause: "pause"},
		"nobody's commands":    {Nodes: twoNodes(), Kill: "kill", Start: "start", Binary: "quorate"},
		"links that stay cut":  {Nodes: twoNodes(), Kill: "kill", Start: "start", Cut: "cut"},
		"nothing to be healed": {Nodes: twoNodes(), Kill: "kill", Start: "start", Heal: "heal"},
	} {
		if _, err := nodes.NewCommands(c); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestCommandForRunning checks that the exit status of a command determines whether a node runs,
// except for the status that ssh uses for its own errors.
func TestCommandForRunning(t *testing.T) {
	for command, want := range map[string]struct{ runs, fails bool }{
		"true": {runs: true}, "false": {}, "/no/such/file": {fails: true},
	} {
		fleet, err := nodes.NewCommands(nodes.CommandsConfig{Nodes: twoNodes(), Kill: "kill", Start: "start", Running: command})
		if err != nil {
			t.Fatal(err)
		}
		if runs, err := fleet.Running(t.Context(), "n1"); runs != want.runs || (err != nil) != want.fails {
			t.Errorf("%s: %v, %v", command, runs, err)
		}
	}
	ssh := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(ssh, []byte("#!/bin/sh\nexit 255\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	fleet, err := nodes.NewCommands(nodes.CommandsConfig{Nodes: twoNodes(), Kill: "kill", Start: "start", Running: ssh})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fleet.Running(t.Context(), "n1"); err == nil {
		t.Error("a host that ssh can't reach is taken for one whose node has ended")
	}
}

func TestOperatorsCommands(t *testing.T) {
	do, calls, _ := script(t)
	fleet, err := nodes.NewCommands(nodes.CommandsConfig{Nodes: twoNodes(), Kill: "kill", Start: "start", Binary: do, Kubeconfig: "file"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fleet.Operate(t.Context(), "n 2", "remove", "n1"); err != nil {
		t.Error(err)
	}
	if got, want := calls(), "remove n1 --kubeconfig file --server https://b:2"; !slices.Equal(got, []string{want}) {
		t.Errorf("%q was run, want %q", got, want)
	}
	if _, err := fleet.Operate(t.Context(), "n3", "members"); err == nil {
		t.Error("a node that isn't there was asked")
	}
}

func TestCommandsForLinks(t *testing.T) {
	do, calls, failing := script(t)
	fleet, err := nodes.NewCommands(nodes.CommandsConfig{
		Nodes: twoNodes(), Kill: "kill", Start: "start", Cut: do + " cut {from} {to}", Heal: do + " heal {from} {to}",
	})
	if err != nil {
		t.Fatal(err)
	}
	there, back, slow := nodes.Link{From: "n1", To: "n3"}, nodes.Link{From: "n3", To: "n1"}, nodes.Link{From: nodes.Clients, To: "n1"}
	drop := nodes.Rule{Drop: true}
	for _, step := range []struct {
		rules  map[nodes.Link]nodes.Rule
		broken bool
		want   []string
	}{
		{map[nodes.Link]nodes.Rule{there: drop, back: drop, slow: {Loss: 0.1}}, false, []string{"cut n1 n3", "cut n3 n1"}},
		{map[nodes.Link]nodes.Rule{there: drop, slow: drop}, false, []string{"heal n3 n1", "cut clients n1"}},
		{nil, true, []string{"heal clients n1", "heal n1 n3"}},
		{nil, false, []string{"heal clients n1", "heal n1 n3"}},
		{nil, false, []string{""}},
	} {
		if step.broken {
			err = os.WriteFile(failing, nil, 0o600)
		} else {
			err = os.RemoveAll(failing)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := fleet.Shape(t.Context(), step.rules); (err != nil) != step.broken {
			t.Errorf("%v: %v", step.rules, err)
		}
		if got := calls(); !slices.Equal(got, step.want) {
			t.Errorf("%v: %q was run, want %q", step.rules, got, step.want)
		}
	}
}
