package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"quorate/bench/checkout"
)

// benchmarks are the chosen micro-benchmarks of a package.
type benchmarks struct {
	path    string // below the root
	pattern string // of their names
	short   bool   // also for a quick look
}

// packages are the steps of a write, a read and a watch, in the order that they happen.
var packages = []benchmarks{
	{"apiserver/wire/h2", "^Benchmark(Get|Post)$/^ours$", false},
	{"apiserver/access/fairness", "^BenchmarkEnter$", true},
	{"apiserver/access/rbac", "^BenchmarkAllows$", false},
	{"apiserver/objects/schema", "^Benchmark(Create|Protobuf)$", true},
	{"apiserver/objects/patch", "^BenchmarkPatch$", false},
	{"apiserver/objects/selector", "^BenchmarkMatches$", false},
	{"raftstore/write", "^BenchmarkCommand$/^(encode|decode)$/^1024$", true},
	{"raftstore/forward", "^BenchmarkWrites$/^callers=(1|100)$", false},
	{"raftstore/log", "^Benchmark(Append|GetLog)$", false},
	{"raftstore/fsm", "^Benchmark(Decode|Apply|Apply_update)$", true},
	{"raftstore/state", "^Benchmark(Get|Ascend|Publish)$", false},
	{"raftstore/history", "^Benchmark(FanOut|Append)$", true},
}

// units are those of micro-benchmarks that are compared. Others, such as MB/s, follow from them.
var units = []string{"ns/op", "cpu-µs/op", "B/op", "allocs/op"}

// microTimeout bounds one run of a package's benchmarks.
const microTimeout = 2 * time.Minute

// file is the test binary of a package.
func (p *benchmarks) file(b build) string {
	return filepath.Join(b.dir, strings.ReplaceAll(p.path, "/", "-")+".test")
}

// compile builds the package's tests. A build may be without the package.
func (p *benchmarks) compile(ctx context.Context, b build) error {
	if _, err := os.Stat(filepath.Join(b.source, p.path)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	return checkout.Go(ctx, b.source, "test", "-c", "-o", p.file(b), "./"+p.path)
}

// micro is the suite of a package's benchmarks.
type micro struct {
	pkg       *benchmarks
	benchTime time.Duration
}

func (m *micro) name() string { return m.pkg.path }

func (m *micro) measure(ctx context.Context, b build) ([]observation, error) {
	file := m.pkg.file(b)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, microTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, file, "-test.run", "^$", "-test.bench", m.pkg.pattern, "-test.benchmem", "-test.benchtime", m.benchTime.String())
	cmd.Dir = filepath.Join(b.source, m.pkg.path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return readBenchmarks(m.pkg.path, out)
}

// readBenchmarks reads what the benchmarks of a package printed.
func readBenchmarks(path string, out []byte) (all []observation, err error) {
	reader := benchfmt.NewReader(bytes.NewReader(out), path)
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue // a line of something else, such as a log
		}
		for _, v := range result.Values {
			unit, value := v.Unit, v.Value
			if v.OrigUnit != "" { // it was converted to seconds or bytes
				unit, value = v.OrigUnit, v.OrigValue
			}
			if slices.Contains(units, unit) {
				all = append(all, observation{key{path + " " + string(result.Name), unit}, value})
			}
		}
	}
	return all, reader.Err()
}
