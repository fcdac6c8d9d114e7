package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"quorate/chaos/thirdparty"
)

type options struct {
	suite string
	only  string
	cache string
	keep  string
	out   string
}

func main() {
	var o options
	flag.StringVar(&o.suite, "suite", "", "only this suite: "+e2eSuite+" or "+kubectlSuite)
	flag.StringVar(&o.only, "only", "", "regular expression of the names of tests to run; all by default")
	flag.StringVar(&o.cache, "cache", thirdparty.CacheDir("quorate-upstream"), "folder for what is built")
	flag.StringVar(&o.keep, "keep", "", "folder for the nodes' data and what the tests print; removed at the end by default")
	flag.StringVar(&o.out, "out", "", "file for the table, in Markdown; standard output by default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		stop()
		os.Exit(1)
	}
}

// run works in the project's root, which is where go run was called.
func run(ctx context.Context, o options) (err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	expected, err := parseExpected(expectedFile)
	if err != nil {
		return err
	}
	work, remove, err := folder(o.keep)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	programs, err := build(ctx, o.cache)
	if err != nil {
		return err
	}
	r := runner{programs: programs, work: work, only: only, expected: expected, log: os.Stderr}
	var tests []test
	for _, s := range []struct {
		name string
		run  func(context.Context) ([]test, error)
	}{{e2eSuite, r.e2e}, {kubectlSuite, r.kubectl}} {
		if o.suite != "" && o.suite != s.name {
			continue
		}
		found, err := s.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		tests = append(tests, found...)
	}
	if len(tests) == 0 {
		return fmt.Errorf("no test is named like %q in suite %q", o.only, o.suite)
	}
	return report(ctx, o.out, programs.release, tests)
}

// folder returns a folder for one run, and how to remove it.
func folder(keep string) (dir string, remove func() error, err error) {
	if keep != "" {
		dir, err = filepath.Abs(keep)
		return dir, func() error { return nil }, errors.Join(err, os.MkdirAll(dir, 0o755))
	}
	dir, err = os.MkdirTemp("", "quorate-upstream-")
	return dir, func() error { return os.RemoveAll(dir) }, err
}

// report writes the table, and fails if a test failed that should pass.
func report(ctx context.Context, out, release string, tests []test) error {
	commit, err := thirdparty.Commit(ctx)
	if err != nil {
		return err
	}
	text := table(tests, release, commit, time.Now().UTC())
	if out == "" {
		fmt.Print(text)
	} else if err := os.WriteFile(out, []byte(text), 0o644); err != nil {
		return err
	}
	var wrong []string
	for _, t := range tests {
		if r := t.result(); r == failed || r == closed {
			wrong = append(wrong, fmt.Sprintf("%s: %s %s", t.Suite, t.Name, r))
		}
	}
	if wrong != nil {
		return errors.New("not as expected.tsv says:\n" + strings.Join(wrong, "\n"))
	}
	return nil
}
