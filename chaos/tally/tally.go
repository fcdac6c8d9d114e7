package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

// counts is what came of the cases of some runs of go test. A case is a test that has no subtests.
type counts struct {
	Passed, Failed, Skipped int
	// Reasons is how many cases were skipped, by package and reason.
	Reasons map[string]int
}

// test is one that runs.
type test struct {
	lines  []string // of its output, until it has passed
	parent bool     // it has subtests
	failed bool     // one of them failed
}

// reader makes sense of the events of one go test. What go test prints by itself is printed: the
// lines of packages, and of tests that failed.
type reader struct {
	out    io.Writer
	total  *counts
	tests  map[string]map[string]*test // by package
	failed map[string]bool             // packages of which a test failed
	ended  map[string]*said            // what tests said that passed or were skipped, by package
}

// said is what the tests of a package said that ended well: at most maxSaid bytes, the last ones.
type said struct {
	lines []string
	size  int
}

// maxSaid bounds what is kept of a package's output until the package has ended.
const maxSaid = 4 << 20

func (s *said) add(lines []string) {
	s.lines = append(s.lines, lines...)
	for _, line := range lines {
		s.size += len(line)
	}
	drop := 0
	for ; s.size > maxSaid; drop++ {
		s.size -= len(s.lines[drop])
	}
	s.lines = s.lines[drop:]
}

func newReader(out io.Writer, total *counts) *reader {
	if total.Reasons == nil {
		total.Reasons = map[string]int{}
	}
	return &reader{
		out: out, total: total,
		tests: map[string]map[string]*test{}, failed: map[string]bool{}, ended: map[string]*said{},
	}
}

// maxLine bounds one event: an output line of a test.
const maxLine = 16 << 20

// read takes all events. Lines that are none are printed as they are.
func (r *reader) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Action == "" {
			fmt.Fprintln(r.out, lines.Text())
			continue
		}
		r.take(e)
	}
	return lines.Err()
}

func (r *reader) take(e event) {
	if e.Action == "build-output" {
		fmt.Fprint(r.out, e.Output)
		return
	}
	if e.Test == "" {
		r.takePackage(e)
		return
	}
	one := r.find(e.Package, e.Test)
	switch e.Action {
	case "run":
		for name := e.Test; strings.Contains(name, "/"); {
			name = name[:strings.LastIndex(name, "/")]
			r.find(e.Package, name).parent = true
		}
	case "output":
		one.lines = append(one.lines, e.Output)
	case "pass", "fail", "skip":
		r.end(e, one)
	}
}

func (r *reader) find(pkg, name string) *test {
	if r.tests[pkg] == nil {
		r.tests[pkg] = map[string]*test{}
	}
	one := r.tests[pkg][name]
	if one == nil {
		one = &test{}
		r.tests[pkg][name] = one
	}
	return one
}

// end counts a test that has ended, and prints what it said if it failed.
func (r *reader) end(e event, one *test) {
	delete(r.tests[e.Package], e.Test)
	switch e.Action {
	case "fail":
		fmt.Fprint(r.out, strings.Join(one.lines, ""))
		r.failed[e.Package] = true
		if !one.failed { // otherwise its subtests are counted
			r.total.Failed++
		}
		if i := strings.LastIndex(e.Test, "/"); i > 0 {
			r.find(e.Package, e.Test[:i]).failed = true
		}
	case "skip":
		r.total.Skipped++
		r.total.Reasons[e.Package+": "+reason(one.lines)]++
	case "pass":
		if !one.parent {
			r.total.Passed++
		}
	}
	if e.Action != "fail" {
		if r.ended[e.Package] == nil {
			r.ended[e.Package] = &said{}
		}
		r.ended[e.Package].add(one.lines)
	}
}

// takePackage prints what go test says of a package, and counts one that failed without a test.
func (r *reader) takePackage(e event) {
	switch e.Action {
	case "output":
		if e.Output != "PASS\n" && e.Output != "FAIL\n" {
			fmt.Fprint(r.out, e.Output)
		}
	case "pass", "skip":
		delete(r.ended, e.Package)
	case "fail":
		r.unfinished(e.Package)
	}
}

// unfinished are tests that were running when their package failed: it panicked, or its time was
// over. They are printed and counted, and where there are none, the package is, and what its tests
// said is printed although they passed, since go test says nothing of why the process failed.
func (r *reader) unfinished(pkg string) {
	running := r.tests[pkg]
	delete(r.tests, pkg)
	for _, name := range slices.Sorted(maps.Keys(running)) {
		one := running[name]
		fmt.Fprint(r.out, strings.Join(one.lines, ""))
		if !one.parent {
			r.total.Failed++
			r.failed[pkg] = true
		}
	}
	if !r.failed[pkg] {
		r.total.Failed++
		if passed := r.ended[pkg]; passed != nil {
			fmt.Fprintf(r.out, "%s: its process failed, though none of its tests did; they said:\n", pkg)
			fmt.Fprint(r.out, strings.Join(passed.lines, ""))
		}
	}
	delete(r.ended, pkg)
}

// reason is what a test that was skipped said last.
func reason(lines []string) string {
	for _, line := range slices.Backward(lines) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "===") {
			continue
		}
		if _, text, found := strings.Cut(line, "_test.go:"); found {
			if _, said, found := strings.Cut(text, ": "); found {
				return said
			}
		}
		return line
	}
	return "no reason given"
}

// add puts other counts to these.
func (c *counts) add(other counts) {
	if c.Reasons == nil {
		c.Reasons = map[string]int{}
	}
	c.Passed += other.Passed
	c.Failed += other.Failed
	c.Skipped += other.Skipped
	for reason, n := range other.Reasons {
		c.Reasons[reason] += n
	}
}

// tell prints why cases were skipped, and last how many passed, failed and were skipped.
func (c *counts) tell(out io.Writer) {
	for _, reason := range slices.SortedFunc(maps.Keys(c.Reasons), cmp.Compare) {
		fmt.Fprintf(out, "skipped %d: %s\n", c.Reasons[reason], reason)
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", c.Passed, c.Failed, c.Skipped)
}
