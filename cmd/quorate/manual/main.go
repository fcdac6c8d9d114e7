// Command manual writes the manual pages of quorate, one for each command, into a directory:
//
//	go run ./cmd/quorate/manual DIR
//
// SOURCE_DATE_EPOCH sets their date. It is a program of its own, so that quorate does not contain
// what renders them.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra/doc"

	"quorate/cmd/quorate/command"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "manual: want manual DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// write writes the pages into a directory, which it creates.
func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root := command.Root(command.Process{Stdout: os.Stdout, Stderr: os.Stderr})
	root.DisableAutoGenTag = true // it has the date of today
	return doc.GenManTree(root, &doc.GenManHeader{Title: "QUORATE", Section: "1", Source: "Quorate", Manual: "Quorate"}, dir)
}
