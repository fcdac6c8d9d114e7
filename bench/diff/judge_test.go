package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// record adds recorded values of both builds.
func record(s *samples, name, unit string, before, after []float64) {
	for which, values := range [builds][]float64{base: before, changed: after} {
		for _, v := range values {
			s.add(which, []observation{{key{name, unit}, v}})
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	steady := []float64{100, 101, 99, 100, 102, 98}
	for name, tc := range map[string]struct {
		unit          string
		before, after []float64
		worse         bool
		change        float64 // for the worse
	}{
		"a rate that falls is worse":          {"op/s", steady, []float64{90, 91, 89, 90, 92, 88}, true, 0.1},
		"a rate that rises is better":         {"op/s", steady, []float64{110, 111, 109, 110, 112, 108}, false, -0.1},
		"a cost that rises is worse":          {"cpu-µs/op", steady, []float64{110, 111, 109, 110, 112, 108}, true, 0.1},
		"a cost that falls is better":         {"ns/op", steady, []float64{90, 91, 89, 90, 92, 88}, false, -0.1},
		"a change below the threshold":        {"ns/op", steady, []float64{104, 105, 103, 104, 105.5, 103.5}, false, 0.04},
		"a change above it that is noise":     {"ns/op", []float64{100, 150, 90, 160, 95, 110}, []float64{100, 155, 92, 170, 120, 130}, false, 0.19},
		"the same everywhere":                 {"allocs/op", []float64{3, 3, 3, 3, 3, 3}, []float64{3, 3, 3, 3, 3, 3}, false, 0},
		"nothing that becomes something":      {"allocs/op", []float64{0, 0, 0, 0, 0, 0}, []float64{1, 1, 1, 1, 1, 1}, true, math.Inf(1)},
		"one more of few, everywhere":         {"allocs/op", []float64{3, 3, 3, 3, 3, 3}, []float64{4, 4, 4, 4, 4, 4}, true, 1.0 / 3},
		"too few rounds to tell":              {"ns/op", []float64{100, 101}, []float64{200, 201}, false, 1},
		"a benchmark that only the base has":  {"ns/op", steady, nil, false, 0},
		"a benchmark that only the copy has":  {"ns/op", nil, steady, false, 0},
		"one slow round of six is no verdict": {"ns/op", steady, []float64{100, 101, 99, 300, 102, 98}, false, 0.005},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s samples
			record(&s, "one", tc.unit, tc.before, tc.after)
			figures := judge(s, 0.01)
			if len(figures) != 1 {
				t.Fatalf("got %d figures", len(figures))
			}
			f := figures[0]
			if f.worse(0.05) != tc.worse {
				t.Errorf("worse: got %v with p %.4f, want %v", !tc.worse, f.p, tc.worse)
			}
			if f.change != tc.change && math.Abs(f.change-tc.change) > 0.02 {
				t.Errorf("got a change of %v, want %v", f.change, tc.change)
			}
			if err := verdictOf(figures, 0.05); (err != nil) != tc.worse {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The rounds of each mode suffice for its test: completely separate samples are significant.
func TestRoundsSuffice(t *testing.T) {
	t.Parallel()
	for mode, s := range scales {
		var before, after []float64
		for i := range s.rounds {
			before, after = append(before, float64(100+i)), append(after, float64(200+i))
		}
		var all samples
		record(&all, "one", "ns/op", before, after)
		if f := judge(all, s.alpha)[0]; !f.worse(0.05) {
			t.Errorf("%s: p is %v, not below %v", mode, f.p, s.alpha)
		}
	}
}

// named is a suite that is not measured.
type named struct {
	suite
	as string
}

func (n named) name() string { return n.as }

// What is worse is measured again, and counts only if it is worse again.
func TestMeasuresAgainWhatIsWorse(t *testing.T) {
	t.Parallel()
	steady, slow := []float64{100, 101, 99, 100, 102, 98}, []float64{120, 121, 119, 120, 122, 118}
	for name, tc := range map[string]struct {
		second []float64
		worse  bool
	}{"by chance": {steady, false}, "in truth": {slow, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			measure := func(chosen []suite) (all []samples, err error) {
				for _, one := range chosen {
					var s samples
					after := steady
					if one.name() == "doubted" {
						after = slow
						if len(asked) >= 2 { // the second time
							after = tc.second
						}
					}
					asked = append(asked, one.name())
					record(&s, one.name(), "ns/op", steady, after)
					all = append(all, s)
				}
				return all, nil
			}
			figures, err := measureAll([]suite{named{as: "clear"}, named{as: "doubted"}}, measure, 0.01, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(asked, " "); got != "clear doubted doubted" {
				t.Errorf("measured %s", got)
			}
			if err := verdictOf(figures, 0.05); (err != nil) != tc.worse {
				t.Errorf("got %v", err)
			}
			text := table(figures, scales["full"], 0.05, "abc", "def-dirty")
			if want := map[bool]string{true: "WORSE", false: "not again"}[tc.worse]; !strings.Contains(text, want) {
				t.Errorf("want %q in\n%s", want, text)
			}
		})
	}
}

// Recorded output of go test: results are read with their units, other lines are not.
func TestReadBenchmarks(t *testing.T) {
	t.Parallel()
	out, err := os.ReadFile(filepath.Join("testdata", "forward.txt"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := readBenchmarks("raftstore/forward", out)
	if err != nil {
		t.Fatal(err)
	}
	got := map[key]float64{}
	for _, o := range found {
		got[o.key] = o.value
	}
	for k, want := range map[key]float64{
		{"raftstore/forward Writes/callers=1-2", "ns/op"}:       48211,
		{"raftstore/forward Writes/callers=1-2", "cpu-µs/op"}:   91.5,
		{"raftstore/forward Writes/callers=100-2", "allocs/op"}: 24,
	} {
		if got[k] != want {
			t.Errorf("%v: got %v, want %v, of %v", k, got[k], want, got)
		}
	}
	if len(got) != 8 {
		t.Errorf("got %d figures, want 8: %v", len(got), got)
	}
}

// Each chosen benchmark exists: a suite whose package or names changed would compare nothing.
func TestChosenBenchmarksExist(t *testing.T) {
	t.Parallel()
	for _, p := range packages {
		_, names, _ := strings.Cut(p.pattern, "^Benchmark")
		first, _, _ := strings.Cut(names, "$")
		sources, err := filepath.Glob(filepath.Join("..", "..", p.path, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, source := range sources {
			content, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(content)
		}
		for name := range strings.SplitSeq(strings.Trim(first, "()"), "|") {
			if !strings.Contains(text.String(), "func Benchmark"+name+"(") {
				t.Errorf("%s has no Benchmark%s", p.path, name)
			}
		}
	}
}
