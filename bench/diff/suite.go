package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"quorate/bench/checkout"
)

// The two builds, which index arrays of length builds.
const (
	base = iota
	changed
	builds
)

// build is one of the two builds.
type build struct {
	source string // its sources
	dir    string // its binaries and temporary files
}

// suite measures several figures at once.
type suite interface {
	name() string
	// measure measures a build once.
	measure(ctx context.Context, b build) ([]observation, error)
}

// key names a figure.
type key struct{ name, unit string }

// observation is one measured value of a figure.
type observation struct {
	key
	value float64
}

// prepare compiles what the chosen suites need of both builds.
func prepare(ctx context.Context, s scale, only *regexp.Regexp, all [builds]build) (suites []suite, err error) {
	for i := range packages {
		p := &packages[i]
		if (s.short && !p.short) || !only.MatchString(p.path) {
			continue
		}
		for _, b := range all {
			if err := p.compile(ctx, b); err != nil {
				return nil, err
			}
		}
		suites = append(suites, &micro{pkg: p, benchTime: s.benchTime})
	}
	if only.MatchString(rowsName) {
		for _, b := range all {
			if err := checkout.Go(ctx, b.source, "build", "-o", filepath.Join(b.dir, "quorate"), "./cmd/quorate"); err != nil {
				return nil, err
			}
		}
		suites = append(suites, &rows{length: s.length})
	}
	if len(suites) == 0 {
		return nil, fmt.Errorf("-only %q: no suite has such a name", only)
	}
	return suites, nil
}

// measurer measures suites and returns the samples of each, in the order of the suites.
type measurer func(chosen []suite) ([]samples, error)

// measureAll measures all suites and judges their figures. Suites with figures that are worse are
// measured again, and only what is worse again stays so.
func measureAll(suites []suite, measure measurer, alpha, threshold float64) (figures []figure, err error) {
	first, err := measure(suites)
	if err != nil {
		return nil, err
	}
	var again []suite
	var doubted [][]figure
	judged := make([][]figure, len(suites))
	for i := range suites {
		judged[i] = judge(first[i], alpha)
		if slices.ContainsFunc(judged[i], func(f figure) bool { return f.worse(threshold) }) {
			again, doubted = append(again, suites[i]), append(doubted, judged[i])
		}
	}
	if len(again) > 0 {
		second, err := measure(again)
		if err != nil {
			return nil, err
		}
		for i := range again {
			confirm(doubted[i], judge(second[i], alpha), threshold)
		}
	}
	return slices.Concat(judged...), nil
}

// inTurns measures suites with both builds, which take turns.
func inTurns(ctx context.Context, all [builds]build, rounds int) measurer {
	return func(chosen []suite) ([]samples, error) {
		found := make([]samples, len(chosen))
		order := []int{base, changed}
		for round := range rounds {
			for i, one := range chosen {
				fmt.Fprintf(os.Stderr, "diff: round %d of %d: %s\n", round+1, rounds, one.name())
				for _, which := range order {
					observed, err := one.measure(ctx, all[which])
					if err != nil {
						return nil, fmt.Errorf("%s: %w", one.name(), err)
					}
					found[i].add(which, observed)
				}
			}
			slices.Reverse(order)
		}
		return found, nil
	}
}
