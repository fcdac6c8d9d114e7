package command_test

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"quorate/cmd/quorate/command"
	"quorate/cmd/quorate/node"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"quorate": func() {
			os.Exit(command.Main(command.Process{
				Args: os.Args[1:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr,
				Build: node.Build{Version: "v0.0.0-test", Commit: "abc"},
			}))
		},
	})
}

// TestScripts runs testdata/script/*.txtar: commands of an operator and their output.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "lines": lines, "mode": mode, "get": get, "configmap": configmap, "taken": taken, "signal": signal, "ports": ports, "damage": damage, "flip": flip, "await": await, "newer": newer,
			"scheduled": scheduled, "newest": newest,
		},
	})
}
