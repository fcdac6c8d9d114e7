package gossip

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// TestLinesOfMemberlistArePassedOn, whatever their words; an equal one within a minute is not.
func TestLinesOfMemberlistArePassedOn(t *testing.T) {
	lines := []string{
		"[ERR] memberlist: Decrypt packet failed: no installed keys could decrypt the message from=127.0.0.1:1",
		"[WARN] memberlist: ignoring alive message for 'n2': taken",
		"[ERR] memberlist: Failed push/pull merge: it belongs to cluster b",
		"[DEBUG] memberlist: failed to join 127.0.0.1:1: EOF",
		"[WARN] memberlist: no line that is known",
	}
	var out bytes.Buffer
	g := &Gossip{cfg: Config{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))}}
	g.metrics = newMetrics(prometheus.NewRegistry(), g)
	w := newLogWriter(g)
	for range 2 {
		for _, line := range lines {
			if _, err := w.Write([]byte(line + "\n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, line := range lines {
		_, words, _ := strings.Cut(line, "memberlist: ")
		want := 1
		if strings.HasPrefix(line, "[DEBUG]") {
			want = 2
		}
		if got := strings.Count(out.String(), words); got != want {
			t.Errorf("%q is logged %d times, want %d:\n%s", line, got, want, out.String())
		}
	}
	var repeated dto.Metric
	if err := g.metrics.limits.WithLabelValues(limitRepeatedLines).Write(&repeated); err != nil {
		t.Fatal(err)
	}
	if n := repeated.GetCounter().GetValue(); n != 4 { // all but the one for debugging
		t.Errorf("%v lines count as repeated, want 4", n)
	}
	var refused dto.Metric
	if err := g.metrics.refused.Write(&refused); err != nil {
		t.Fatal(err)
	}
	if n := refused.GetCounter().GetValue(); n != 0 {
		t.Errorf("%v lines count as refusals", n)
	}
}

// TestFindingsAreCounted: what is found while too much waits for the log is counted, and so is what
// was found within the last minute.
func TestFindingsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Gossip{cfg: Config{Logger: slog.New(slog.DiscardHandler)}, findings: make(chan finding, findingsQueued)}
		g.metrics = newMetrics(prometheus.NewRegistry(), g)
		for range findingsQueued + 3 {
			g.report(finding{key: "k"})
		}
		ctx, cancel := context.WithCancel(t.Context())
		logged := make(chan error, 1)
		go func() { logged <- g.writeFindings(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-logged; err != nil {
			t.Error(err)
		}
		for limit, want := range map[string]float64{limitFindings: 3, limitRepeatedLines: findingsQueued - 1} {
			var m dto.Metric
			if err := g.metrics.limits.WithLabelValues(limit).Write(&m); err != nil {
				t.Fatal(err)
			}
			if n := m.GetCounter().GetValue(); n != want {
				t.Errorf("%s is %v, want %v", limit, n, want)
			}
		}
	})
}
