// Command quorate is a node of a Quorate cluster (`quorate serve`) and the commands of its operator.
package main

import (
	"os"

	"quorate/cmd/quorate/command"
	"quorate/cmd/quorate/node"
)

// Stamped by the Makefile with -ldflags -X, which can only set variables.
var (
	version = "v0.0.0-devel"
	commit  = "unknown"
	date    = ""
)

func main() {
	os.Exit(command.Main(command.Process{
		Args: os.Args[1:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr,
		Build: node.Build{Version: version, Commit: commit, Date: date},
	}))
}
