package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestCatalogIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range catalog() {
		name := s.Name + " " + s.Version
		if seen[name] {
			t.Errorf("%s is twice in the catalog", name)
		}
		seen[name] = true
		if s.Version == "" || s.Source == "" {
			t.Errorf("%s: no version, or no source", name)
		}
		if (s.Missing == "") != (len(s.Steps) > 0) {
			t.Errorf("%s: an entry has steps, or a reason why it is missing", name)
		}
		tried := map[string]bool{}
		for _, step := range s.Steps {
			if step.Tried == "" || tried[step.Tried] || strings.TrimSpace(step.Script) == "" {
				t.Errorf("%s: step %q has no name of its own, or no script", name, step.Tried)
			}
			tried[step.Tried] = true
		}
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		name, script, gap string
		want              result
		prints            string
	}{
		{name: "passes", script: "true", want: passed},
		{name: "fails", script: "echo before; false; echo after", want: failed, prints: "before"},
		{name: "fails in a pipe", script: "false | cat", want: failed},
		{name: "known gap", script: "false", gap: "absent", want: gap},
		{name: "closed gap", script: "true", gap: "absent", want: closed},
		{name: "too slow", script: "sleep 60", want: failed},
		{name: "leaves a process", script: "sleep 60 & echo done", want: passed, prints: "done"},
		{name: "refused", script: "refused 'not [f]ound' bash -c 'echo not found; exit 1'", want: passed},
		{name: "refused for another reason", script: "refused 'not [f]ound' bash -c 'echo busy; exit 1'", want: failed, prints: "busy"},
		{name: "not refused", script: "refused . echo accepted", want: failed, prints: "accepted"},
		{name: "equal", script: "equal a a", want: passed},
		{name: "unequal", script: "equal a b", want: failed, prints: "want: b"},
		{name: "eventually", script: "touch_later() { [ -e it ] || { touch it; false; }; }; eventually touch_later", want: passed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &runner{scratch: t.TempDir(), log: io.Discard}
			began := time.Now()
			timeout := 30 * time.Second
			if c.name == "too slow" {
				timeout = 100 * time.Millisecond
			}
			out, err := r.shell(t.Context(), timeout, t.TempDir(), os.Environ(), c.script)
			if got := judge(step{Gap: c.gap}, err); got != c.want {
				t.Errorf("%s (%v), want %s; printed:\n%s", got, err, c.want, out)
			}
			if !strings.Contains(out, c.prints) || strings.Contains(out, "after") {
				t.Errorf("printed:\n%s", out)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %s, although nothing may outlive the script", took)
			}
		})
	}
}

// TestFetch obtains software once for each content, and says why it can't be obtained.
func TestFetch(t *testing.T) {
	r := &runner{cache: t.TempDir(), scratch: t.TempDir(), log: io.Discard}
	fetch := func(script string) (string, error) {
		_, out, err := r.fetch(t.Context(), software{Name: "A Tool", Version: "1", Fetch: script})
		return out, err
	}
	for _, want := range []string{"fetched\n", ""} {
		if out, err := fetch("echo fetched"); err != nil || out != want {
			t.Errorf("printed %q, %v; want %q", out, err, want)
		}
	}
	if out, err := fetch("echo refused; false"); err == nil || out != "refused\n" {
		t.Errorf("printed %q, %v; want an error", out, err)
	}
	if out, err := fetch("echo fetched"); err != nil || out != "fetched\n" {
		t.Errorf("after a failure: printed %q, %v", out, err)
	}
}

func TestMissingSoftwareIsSkipped(t *testing.T) {
	r := &runner{cache: t.TempDir(), scratch: t.TempDir(), log: io.Discard}
	for _, s := range []software{
		{Name: "a", Version: "1", Missing: "refused"},
		{Name: "b", Version: "1", Fetch: "echo refused; false", Steps: []step{{Tried: "it", Script: "true"}}},
	} {
		trials := r.try(context.Background(), s)
		if len(trials) != 1 || trials[0].result != skipped || !strings.Contains(trials[0].says(), "refused") {
			t.Errorf("%+v, want one that is skipped, with the reason", trials)
		}
	}
}

func TestTable(t *testing.T) {
	tool := software{Name: "tool", Version: "1", Source: "here"}
	text := table([]trial{
		{software: tool, step: step{Tried: "a | b"}, result: judge(step{}, nil), note: "3 of 3 tests", took: time.Second},
		{software: tool, step: step{Tried: "c", Gap: "absent"}, result: gap, output: strings.Repeat("line\n", 40) + "last\n"},
		{software: tool, step: step{Tried: "d"}, result: judge(step{}, errors.New("exit status 1")), output: "broken\n"},
		{software: software{Name: "other", Version: "2"}, result: skipped, output: "refused\nfor ever"},
	}, "abc", time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	for _, want := range []string{
		"1 steps pass, 1 fail, 1 are known gaps, 0 pass though listed as gaps, 1 entries are skipped; at abc, 2026-01-02.",
		"| tool 1 | here | a \\| b | passes (3 of 3 tests) | 1.0 |",
		"|  |  | c | known gap: absent |  |",
		"|  |  | d | FAILS |  |",
		"| other 2 |  |  | skipped: refused for ever |  |",
		"### tool 1: d\n\n    broken\n",
		"    last\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "    line\n"); n != outputLines-1 {
		t.Errorf("%d lines of output, want %d", n, outputLines-1)
	}
}
