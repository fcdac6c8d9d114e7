// Command quorate is a node of a Quorate cluster (`quorate serve`) and the commands of its
// operator.
package main

import (
	"os"
	"runtime/debug"

	"quorate/cmd/quorate/command"
	"quorate/cmd/quorate/node"
)

// Stamped by the Makefile with -ldflags -X, which can only set variables.
var version, commit, date, tree string

func main() {
	info, _ := debug.ReadBuildInfo()
	os.Exit(command.Main(command.Process{
		Args: os.Args[1:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr,
		Build: whichBuild(node.Build{Version: version, Commit: commit, Date: date, TreeState: tree}, info),
	}))
}
