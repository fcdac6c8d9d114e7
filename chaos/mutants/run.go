package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// verdict says what became of a mutant.
type verdict string

const (
	caught   verdict = "caught"
	hung     verdict = "caught by a hang (timeout)"
	survived verdict = "survived"
	// unsure: the test that failed fails without the mutant, too.
	unsure verdict = "unsure"
	// invalid: the list is at fault, or nothing could be run.
	invalid verdict = "error"
	// open: not all of its suites were run.
	open verdict = "not caught yet"
)

// runner runs mutants in scratch trees, one mutant at a time in each.
type runner struct {
	commit string
	trees  []*tree
	out    io.Writer // progress, for people
	// verbose prints the last lines of a failing test.
	verbose bool
	// suites bounds how many suites of a mutant are run; 0 for all.
	suites int

	mu sync.Mutex // guards out and records
	// record keeps a result as soon as it is known.
	record func(result) error
}

// run runs the mutants and returns those results that are not a catch.
func (r *runner) run(ctx context.Context, mutants []*mutant) (missed []result, err error) {
	next := make(chan *mutant)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(next)
		for _, m := range mutants {
			select {
			case next <- m:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for _, t := range r.trees {
		g.Go(func() error {
			for m := range next {
				result, err := r.one(ctx, t, m)
				if err != nil {
					return err
				}
				if err := r.keep(result); err != nil {
					return err
				}
				if result.Verdict != caught && result.Verdict != hung {
					r.mu.Lock()
					missed = append(missed, result)
					r.mu.Unlock()
				}
			}
			return nil
		})
	}
	err = g.Wait()
	return missed, err
}

// one runs a mutant's suites in a tree until one fails. Its error is that of a run cut off.
func (r *runner) one(ctx context.Context, t *tree, m *mutant) (result, error) {
	start := time.Now()
	res := result{
		Name: m.Name, Digest: m.digest(t.root), Commit: r.commit, Date: start.UTC().Format(time.DateOnly), Verdict: survived,
	}
	var failed suite
	var failure *failure
	err := t.with(m, func() error {
		if err := t.build(ctx, "./"+path.Dir(m.File)); err != nil {
			return err
		}
		for i, s := range m.Tests {
			if i == r.suites && i > 0 {
				res.Verdict = open
				break
			}
			var err error
			failed = s
			if failure, err = t.test(ctx, s); failure != nil || err != nil {
				return err
			}
		}
		return nil
	})
	res.Seconds = time.Since(start).Seconds()
	switch {
	case ctx.Err() != nil:
		return result{}, ctx.Err()
	case err != nil:
		res.Verdict, res.Detail = invalid, err.Error()
		return res, nil
	case failure == nil:
		return res, nil
	}
	res.Verdict, res.Package, res.Test, res.Detail = caught, failed.Package, failure.name(), failure.output
	if failure.hang {
		res.Verdict = hung
	}
	return res, r.control(ctx, t, failed, failure, &res)
}

// control runs the test that failed in the unchanged tree: it must hold there.
func (r *runner) control(ctx context.Context, t *tree, s suite, f *failure, res *result) error {
	if top := f.top(); top != "" {
		s.Run = "^" + top + "$"
	}
	clean, err := t.test(ctx, s)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if clean != nil || err != nil {
		res.Verdict = unsure
		res.Detail = fmt.Sprintf("%s fails without the mutant, too (%v)\n%s", s, err, res.Detail)
	}
	return nil
}

func (r *runner) keep(res result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "%-8s %6.1fs  %s", verdictWord(res.Verdict), res.Seconds, res.Name)
	if res.Package != "" {
		fmt.Fprintf(r.out, "  by %s %s", res.Package, res.Test)
	}
	fmt.Fprintln(r.out)
	if r.verbose || res.Verdict == unsure || res.Verdict == invalid {
		fmt.Fprintln(r.out, res.Detail)
	}
	if res.Verdict == open {
		return nil // so that a run without a bound does it again
	}
	return r.record(res)
}

func verdictWord(v verdict) string {
	if v == hung {
		return "hang"
	}
	return string(v)
}

// digest identifies what a result is about: the edited file and the tests. A result with another
// digest says nothing about today's mutant.
func (m *mutant) digest(root string) string {
	sum := sha256.New()
	edited, _, err := m.edit(root)
	fmt.Fprintf(sum, "%s\n%v\n%v\n", m.File, m.Tests, err)
	sum.Write(edited)
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// newTrees mirrors the project below dir, n times.
func newTrees(ctx context.Context, root, dir string, n int) (trees []*tree, err error) {
	if n < 1 {
		return nil, errors.New("at least one mutant must run at a time")
	}
	names, err := sources(ctx, root)
	if err != nil {
		return nil, err
	}
	for i := range n {
		place := filepath.Join(dir, strconv.Itoa(i))
		if err := os.MkdirAll(place, 0o755); err != nil {
			return nil, err
		}
		t, err := mirror(root, place, names)
		if err != nil {
			return nil, err
		}
		trees = append(trees, t)
	}
	return trees, nil
}
