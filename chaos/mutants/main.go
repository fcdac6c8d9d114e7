package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
)

type options struct {
	mutants  string
	results  string
	scratch  string
	parallel int
	suites   int
	resume   bool
	verbose  bool
	list     bool
	table    bool
}

func main() {
	var o options
	flag.StringVar(&o.mutants, "mutants", "", "names or areas of the mutants to run, comma-separated; all by default")
	flag.StringVar(&o.results, "results", "chaos/mutants/results.jsonl", "file that results are appended to")
	flag.StringVar(&o.scratch, "scratch", filepath.Join(os.TempDir(), "quorate-mutants"), "folder for the scratch copies of the project")
	flag.IntVar(&o.parallel, "parallel", 1, "mutants run at a time")
	flag.IntVar(&o.suites, "suites", 0, "run only the first so many suites of each mutant; 0 for all")
	flag.BoolVar(&o.resume, "resume", false, "leave out mutants that the results file has as caught, if neither they nor their files have changed")
	flag.BoolVar(&o.verbose, "v", false, "print the last lines of each failing test")
	flag.BoolVar(&o.list, "list", false, "print the mutants and run nothing")
	flag.BoolVar(&o.table, "table", false, "write the table of the results file into README.md and run nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		stop()
		os.Exit(1)
	}
}

// run works in the project's root, which is where go run was called.
func run(ctx context.Context, o options) error {
	all, err := load("chaos/mutants/list")
	if err != nil {
		return err
	}
	switch {
	case o.list:
		return printList(all)
	case o.table:
		return writeTable(all, o.results, "chaos/mutants/README.md")
	}
	return plant(ctx, o, all)
}

// plant runs the chosen mutants.
func plant(ctx context.Context, o options, all []*mutant) error {
	chosen, err := choose(all, o.mutants)
	if err != nil {
		return err
	}
	if problems := check(".", chosen); problems != nil {
		return errors.Join(problems...)
	}
	if o.resume {
		if chosen, err = undone(chosen, o.results); err != nil {
			return err
		}
	}
	r := &runner{out: os.Stdout, verbose: o.verbose, suites: o.suites, record: func(r result) error { return appendResult(o.results, r) }}
	if r.commit, err = commit(ctx, "."); err != nil {
		return err
	}
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	if r.trees, err = newTrees(ctx, root, o.scratch, o.parallel); err != nil {
		return err
	}
	missed, err := r.run(ctx, chosen)
	if err != nil {
		return fmt.Errorf("%w: go on with -resume", err)
	}
	if len(missed) > 0 {
		names := make([]string, len(missed))
		for i, r := range missed {
			names[i] = fmt.Sprintf("%s (%s)", r.Name, r.Verdict)
		}
		return fmt.Errorf("%d of %d are not caught: %s", len(missed), len(chosen), strings.Join(names, ", "))
	}
	fmt.Printf("all %d were caught\n", len(chosen))
	return nil
}

// undone returns the mutants that the results file doesn't have as caught.
func undone(mutants []*mutant, file string) (left []*mutant, err error) {
	results, err := readResults(file)
	if err != nil {
		return nil, err
	}
	for _, m := range mutants {
		r := results[m.Name]
		if r.Digest != m.digest(".") || r.Verdict != caught && r.Verdict != hung {
			left = append(left, m)
		}
	}
	return left, nil
}

func printList(mutants []*mutant) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, m := range mutants {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", m.area, m.Name, m.File, m.Breaks)
	}
	return w.Flush()
}

// writeTable brings a results file into order and its table into a document.
func writeTable(mutants []*mutant, results, document string) error {
	known, err := readResults(results)
	if err != nil {
		return err
	}
	if err := compact(results, mutants, known); err != nil {
		return err
	}
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	updated, err := insertTable(string(text), table(mutants, known))
	if err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	return os.WriteFile(document, []byte(updated), 0o644)
}
