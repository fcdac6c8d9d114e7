package main

import (
	_ "embed"
	"fmt"
	"strings"
)

// expectedFile lists the tests that don't pass: suite, name, what becomes of it, and the reason,
// separated by tabs.
//
//go:embed expected.tsv
var expectedFile string

// What becomes of a listed test.
const (
	fails   = "fails"
	atTimes = "fails at times"
	notRun  = "not run"
)

// expectation is why a test doesn't pass.
type expectation struct {
	what   string // fails, atTimes or notRun
	reason string
}

// expectations are by suite and name.
type expectations map[[2]string]expectation

func parseExpected(text string) (expectations, error) {
	all := expectations{}
	for n, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 4 || fields[2] != fails && fields[2] != atTimes && fields[2] != notRun || fields[3] == "" {
			return nil, fmt.Errorf("expected.tsv:%d: want suite, name, %q, %q or %q, and a reason, separated by tabs", n+1, fails, atTimes, notRun)
		}
		key := [2]string{fields[0], fields[1]}
		if _, twice := all[key]; twice {
			return nil, fmt.Errorf("expected.tsv:%d: %s is listed twice", n+1, fields[1])
		}
		all[key] = expectation{what: fields[2], reason: fields[3]}
	}
	return all, nil
}
