package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"quorate/chaos/thirdparty"
)

type options struct {
	only  string
	cache string
	out   string
	list  bool
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "regular expression of the names of the software to try; all by default")
	flag.StringVar(&o.cache, "cache", thirdparty.CacheDir("quorate-software"), "folder for what is fetched and built")
	flag.StringVar(&o.out, "out", "", "file for the table, in Markdown; standard output by default")
	flag.BoolVar(&o.list, "list", false, "print the catalog and run nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "software:", err)
		stop()
		os.Exit(1)
	}
}

// run works in the project's root, which is where go run was called.
func run(ctx context.Context, o options) error {
	chosen, err := choose(catalog(), o.only)
	if err != nil {
		return err
	}
	if o.list {
		printList(chosen)
		return nil
	}
	r, err := newRunner(ctx, o.cache)
	if err != nil {
		return err
	}
	defer r.close()
	var trials []trial
	for _, s := range chosen {
		trials = append(trials, r.try(ctx, s)...)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := write(ctx, o, trials); err != nil {
		return err
	}
	if failed := count(trials, failed); failed > 0 {
		return fmt.Errorf("%d steps failed that should pass", failed)
	}
	return nil
}

// choose returns the software whose names match.
func choose(all []software, only string) (chosen []software, err error) {
	pattern, err := regexp.Compile("(?i)" + only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	for _, s := range all {
		if pattern.MatchString(s.Name) {
			chosen = append(chosen, s)
		}
	}
	if chosen == nil {
		return nil, fmt.Errorf("no software in the catalog is named like %q: see -list", only)
	}
	return chosen, nil
}

func printList(all []software) {
	for _, s := range all {
		fmt.Printf("%s %s (%s)\n", s.Name, s.Version, s.Source)
		for _, step := range s.Steps {
			fmt.Printf("  %s\n", step.Tried)
		}
	}
}

// write writes the table to the file, or to standard output if there is none.
func write(ctx context.Context, o options, trials []trial) error {
	commit, err := thirdparty.Commit(ctx)
	if err != nil {
		return err
	}
	text := table(trials, commit, time.Now().UTC())
	if o.out == "" {
		fmt.Print(text)
		return nil
	}
	return errors.Join(os.WriteFile(o.out, []byte(text), 0o644), printSummary(trials))
}

func printSummary(trials []trial) error {
	_, err := fmt.Println(summary(trials))
	return err
}
