package main

import (
	"strings"
	"testing"

	"quorate/bench/generator"
)

func TestTargetsAreReadAndFoundOnce(t *testing.T) {
	t.Parallel()
	targets, err := readTargets()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[any]string{}
	for i := range targets {
		if other, ok := seen[targets[i].Find]; ok {
			t.Errorf("%q and %q want the same measurement", other, targets[i].Work)
		}
		seen[targets[i].Find] = targets[i].Work
		if targets[i].Want == (target{}).Want {
			t.Errorf("%q wants nothing", targets[i].Work)
		}
	}
}

// printAll prints the table of one measurement.
func printAll(out *strings.Builder, targets []target, m generator.Measurement, mode string) {
	pace := paces{1, 1}
	printTable(out, rowsOf(targets, []generator.Measurement{m}, nil, pace, scales[mode]), pace, scales[mode])
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	targets, err := readTargets()
	if err != nil {
		t.Fatal(err)
	}
	create := generator.Measurement{Label: "one", Scenario: "create", Kind: "configmaps", Conc: 32, Rate: 9000, CPU: 100}
	slow, failed := create, create
	slow.CPU = 200
	failed.Errors = map[string]int{"503": 1}
	for want, m := range map[string]generator.Measurement{"met": create, "missed": slow, "errors": failed} {
		var out strings.Builder
		printAll(&out, targets, m, "quick")
		if !strings.Contains(out.String(), "≥ 8000/s, ≤ 150 µs  9000/s") || !strings.Contains(out.String(), want) {
			t.Errorf("want %s in\n%s", want, out.String())
		}
	}
}

// A quick run loads fewer objects: the row says how many, and is not judged by targets that hold
// for 100,000.
func TestQuickRunsSayWhatTheyLoad(t *testing.T) {
	t.Parallel()
	targets, err := readTargets()
	if err != nil {
		t.Fatal(err)
	}
	filled := generator.Measurement{Label: "capacity", Scenario: "capacity"}
	for mode, want := range map[string]string{
		"quick": "memory with 8000 pods of 7 KiB",
		"full":  "memory with 100000 pods of 7 KiB",
	} {
		var out strings.Builder
		printAll(&out, targets, filled, mode)
		if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "1024 MiB") != (mode == "full") {
			t.Errorf("%s run: want %q, and the target in a full run alone, in\n%s", mode, want, out.String())
		}
	}
}
