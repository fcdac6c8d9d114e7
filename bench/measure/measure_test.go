package measure

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Each operation runs once, and one that fails ends the run.
func TestRun(t *testing.T) {
	done := make([]int, 100)
	r, err := Run(t.Context(), []int{os.Getpid()}, 7, len(done), func(_ context.Context, i int) (int, error) {
		done[i]++
		return 201, nil
	})
	if err != nil || r.Ops != len(done) || r.Rate <= 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for i, n := range done {
		if n != 1 {
			t.Errorf("operation %d ran %d times", i, n)
		}
	}
	cause := errors.New("no")
	if _, err := Run(t.Context(), nil, 2, 5, func(context.Context, int) (int, error) { return 0, cause }); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if _, err := Run(t.Context(), nil, 2, 5, func(context.Context, int) (int, error) { return 404, nil }); err == nil {
		t.Error("a 404 is no error")
	}
}

// Paced operations begin at their times, and waiting for them is no part of what they take.
func TestRunPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval, length = 10 * time.Millisecond, time.Millisecond
		begun := time.Now()
		r, err := RunPaced(t.Context(), nil, 3, 20, interval, func(_ context.Context, i int) (int, error) {
			if late := time.Since(begun) - time.Duration(i)*interval; late != 0 {
				t.Errorf("operation %d is %s late", i, late)
			}
			time.Sleep(length)
			return 200, nil
		})
		if err != nil || r.P50 != length || r.P99 != length {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestTable(t *testing.T) {
	table := NewTable("Sizes", "go run ./x", "objects", "µs", "ms")
	table.Add(5, 1234.5, 1500*time.Microsecond)
	var b strings.Builder
	if err := table.Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"### Sizes", "| objects | µs | ms |\n|---|---|---|\n| 5 | 1234 | 1.50 |", `"rows":[["5","1234","1.50"]]`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
}

func TestPercentile(t *testing.T) {
	if p := Percentile([]time.Duration{3, 1, 2}, 50); p != 2 {
		t.Errorf("p50 %d", p)
	}
	if p := Percentile(nil, 99); p != 0 {
		t.Errorf("p99 of none %d", p)
	}
}
