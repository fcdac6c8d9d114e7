package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"quorate/chaos/nodes"
	"quorate/chaos/thirdparty"
)

const (
	// e2eSuite is the name of the end-to-end tests in tables and expected.tsv.
	e2eSuite = "e2e"
	// e2eWorkers is how many files of tests run at a time. Tests mostly wait.
	e2eWorkers = 3
	// e2eFileTimeout bounds the tests of one file.
	e2eFileTimeout = 15 * time.Minute
	// besideTimeout bounds what runs beside the tests.
	besideTimeout = 2 * time.Hour
)

// e2eResult is a line that the command e2e writes.
type e2eResult struct {
	File    string  `json:"file"`
	Name    string  `json:"name"`
	State   string  `json:"state"`
	Seconds float64 `json:"seconds"`
	Message string  `json:"message"`
}

// e2e runs the end-to-end tests, each file as one process on the next node.
func (r runner) e2e(ctx context.Context) (tests []test, err error) {
	work := filepath.Join(r.work, e2eSuite)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	tests, err = r.e2eTests(ctx, work)
	if err != nil {
		return nil, err
	}
	server, hosts, err := r.serverWithHosts(work)
	if err != nil {
		return nil, err
	}
	fleet, err := r.start(ctx, server, e2eSuite)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fleet.Close(context.WithoutCancel(ctx))) }()
	if err := r.createObjects(ctx, work, fleet); err != nil {
		return nil, err
	}
	beside := r.beside(ctx, work)
	defer func() { err = errors.Join(err, beside.end()) }()
	beside.controllers(fleet)
	beside.node(fleet, hosts)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(e2eWorkers)
	for i, file := range areas(tests) {
		group.Go(func() error { return r.e2eFile(ctx, work, fleet, i, file, tests) })
	}
	return tests, group.Wait()
}

// objects are what tests and the command node need.
//
//go:embed objects.yaml
var objects []byte

func (r runner) createObjects(ctx context.Context, work string, fleet *nodes.Processes) error {
	manifest := filepath.Join(work, "objects.yaml")
	if err := os.WriteFile(manifest, objects, 0o644); err != nil {
		return err
	}
	return r.execute(ctx, thirdparty.StartTimeout, filepath.Join(work, "objects.log"), nil, filepath.Join(r.bin, "kubectl"),
		"--kubeconfig", kubeconfig(fleet), "create", "-f", manifest)
}

// e2eTests returns all tests that -only chooses, without results.
func (r runner) e2eTests(ctx context.Context, work string) (tests []test, err error) {
	list := filepath.Join(work, "list.json")
	err = r.execute(ctx, e2eFileTimeout, filepath.Join(work, "list.log"), nil, filepath.Join(r.bin, "e2e"),
		"-results", list, "-ginkgo.dry-run", "-kubeconfig", os.DevNull)
	if err != nil {
		return nil, err
	}
	listed, err := readResults(list)
	for _, l := range listed {
		if r.only.MatchString(l.Name) {
			tests = append(tests, test{
				Suite: e2eSuite, Area: strings.TrimSuffix(l.File, ".go"), Name: l.Name,
				expected: r.expected[[2]string{e2eSuite, l.Name}],
			})
		}
	}
	slices.SortStableFunc(tests, func(a, b test) int { return strings.Compare(a.Area, b.Area) })
	return tests, err
}

// e2eFile runs the tests of one file that are worth running, and writes their results into tests.
func (r runner) e2eFile(ctx context.Context, work string, fleet *nodes.Processes, turn int, file string, tests []test) error {
	node := fleet.Nodes()[turn%thirdparty.NodeCount]
	results := filepath.Join(work, file+".json")
	args := []string{
		"-results", results, "-kubeconfig", filepath.Join(fleet.DataDir(node.Name), "admin.kubeconfig"),
		"-kubectl-path", filepath.Join(r.bin, "kubectl"), "-ginkgo.no-color",
	}
	chosen := 0
	for _, t := range tests {
		if t.Area == file && t.expected.what != notRun {
			args = append(args, "-ginkgo.focus", regexp.QuoteMeta(t.Name)+"$")
			chosen++
		}
	}
	if chosen == 0 {
		return nil
	}
	err := r.execute(ctx, e2eFileTimeout, filepath.Join(work, file+".log"), nil, filepath.Join(r.bin, "e2e"), args...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	found, readErr := readResults(results)
	for i := range tests {
		t := &tests[i]
		if t.Area != file || t.expected.what == notRun {
			continue
		}
		at := slices.IndexFunc(found, func(f e2eResult) bool { return f.Name == t.Name })
		if at < 0 {
			t.Message = fmt.Sprintf("no result: %v", err)
			continue
		}
		f := found[at]
		t.Passed, t.Seconds, t.Message = f.State == "passed", f.Seconds, f.Message
		fmt.Fprintf(r.log, "%s: %s: %s (%.1f s)\n", file, f.Name, f.State, f.Seconds)
	}
	return readErr
}

// readResults reads a file of results. There is none if no test ran.
func readResults(path string) (all []e2eResult, err error) {
	in, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	for decoder := json.NewDecoder(in); ; {
		var one e2eResult
		switch err := decoder.Decode(&one); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		all = append(all, one)
	}
}
