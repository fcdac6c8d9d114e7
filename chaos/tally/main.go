// Command tally runs go test and counts the cases that ran and those that were skipped, with the
// reasons.
//
//	tally -into DIR -- go test ./...  # runs go test -json, prints its output, and counts
//	tally -sum DIR                    # prints the counts of all runs, the totals last
//
// The first form exits with 1 if a test or go test itself failed.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

func main() {
	into := flag.String("into", "", "a folder for the counts of this run")
	sum := flag.String("sum", "", "the folder whose counts are printed")
	flag.Parse()
	var err error
	switch {
	case *sum != "" && flag.NArg() == 0:
		err = tell(*sum, os.Stdout)
	case *into != "" && flag.NArg() > 2:
		err = run(*into, flag.Args(), os.Stdout)
	default:
		fmt.Fprintln(os.Stderr, "usage: tally -into DIR -- go test ARGS... | tally -sum DIR")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
}

// run runs a go test, and keeps its counts.
func run(dir string, command []string, out io.Writer) error {
	at := slices.Index(command, "test")
	if at < 0 {
		return fmt.Errorf("%q is no go test", command)
	}
	cmd := exec.Command(command[0], slices.Insert(slices.Clone(command[1:]), at, "-json")...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var total counts
	r := newReader(out, &total)
	read := r.read(events)
	ended := cmd.Wait()
	if ended != nil && total.Failed == 0 { // not for a test
		total.Failed++
	}
	kept := keep(dir, total)
	if ended == nil && total.Failed > 0 {
		ended = fmt.Errorf("%d cases failed", total.Failed)
	}
	return errors.Join(read, ended, kept)
}

// keep writes counts to a file of their own.
func keep(dir string, total counts) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	content, err := json.Marshal(total)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, "counts-*.json")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// tell prints the counts of all runs.
func tell(dir string, out io.Writer) error {
	files, err := filepath.Glob(filepath.Join(dir, "counts-*.json"))
	if err != nil {
		return err
	}
	var total counts
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var one counts
		if err := json.Unmarshal(content, &one); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		total.add(one)
	}
	total.tell(out)
	return nil
}
