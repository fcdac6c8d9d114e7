package logsink_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"quorate/cmd/quorate/logsink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// destination records what is delivered. If it has a gate, it blocks until that is closed.
type destination struct {
	gate chan struct{}

	mu      sync.Mutex
	batches []string
	fail    error
	reports []logsink.Dropped
}

func (d *destination) deliver(_ context.Context, batch []byte) error {
	if d.gate != nil {
		<-d.gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return d.fail
	}
	d.batches = append(d.batches, string(batch))
	return nil
}

func (d *destination) report(lines logsink.Dropped) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reports = append(d.reports, lines)
}

func (d *destination) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.batches, "")
}

func (d *destination) reported() (lines uint64, reports int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.reports {
		lines += r.Lines
	}
	return lines, len(d.reports)
}

// open opens a queue for d; configure changes its settings.
func open(d *destination, registry *prometheus.Registry, configure func(*logsink.Config)) *logsink.Queue {
	cfg := logsink.Config{
		Name: "test", MaxBytes: 1000, MaxLines: 50, Deliver: d.deliver, Report: d.report, Metrics: logsink.NewMetrics(registry),
	}
	if configure != nil {
		configure(&cfg)
	}
	return logsink.Open(cfg)
}

func write(t *testing.T, q *logsink.Queue, line string) {
	t.Helper()
	if n, err := q.Write([]byte(line)); n != len(line) || err != nil {
		t.Errorf("%d, %v for %d bytes", n, err, len(line))
	}
}

func closeQueue(t *testing.T, q *logsink.Queue) {
	t.Helper()
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

// dropped reads the metric.
func dropped(t *testing.T, registry *prometheus.Registry, reason string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "quorate_node_log_dropped_lines_total" && hasLabel(m, "reason", reason) {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("no metric for %s", reason)
	return 0
}

func hasLabel(m *dto.Metric, name, value string) bool {
	for _, l := range m.GetLabel() {
		if l.GetName() == name && l.GetValue() == value {
			return true
		}
	}
	return false
}

func TestQueueDeliversInOrder(t *testing.T) {
	t.Parallel()
	d := &destination{}
	q := open(d, prometheus.NewRegistry(), func(cfg *logsink.Config) { cfg.MaxBytes, cfg.MaxLines, cfg.BatchBytes = 1<<20, 10000, 100 })
	var want strings.Builder
	for i := range 3000 {
		line := fmt.Sprintf("line %d\n", i)
		want.WriteString(line)
		write(t, q, line)
	}
	closeQueue(t, q)
	if got := d.text(); got != want.String() {
		t.Errorf("%d bytes arrived, want %d in order", len(got), want.Len())
	}
	for _, batch := range d.batches {
		if len(batch) > 100 || !strings.HasSuffix(batch, "\n") {
			t.Errorf("batch of %d bytes: %q", len(batch), batch)
		}
	}
}

// TestQueueNeverBlocks checks that, while the destination takes no lines, writes return, memory is
// bounded and dropped lines are counted, and that their number is reported once it takes lines
// again.
func TestQueueNeverBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name string
			line string
			kept int
		}{
			{"bytes", strings.Repeat("x", 99) + "\n", 10},
			{"lines", "x\n", 50},
		} {
			registry := prometheus.NewRegistry()
			d := &destination{gate: make(chan struct{})}
			q := open(d, registry, nil)
			write(t, q, c.line)
			synctest.Wait() // until it is being delivered
			for range 199 {
				write(t, q, c.line)
			}
			synctest.Wait()
			if q.Queued() > 1000 {
				t.Errorf("%s: %d bytes are queued", c.name, q.Queued())
			}
			if n := dropped(t, registry, "full"); n != float64(200-c.kept) {
				t.Errorf("%s: the metric counts %v dropped lines", c.name, n)
			}
			close(d.gate)
			synctest.Wait()
			if lines, reports := d.reported(); lines != uint64(200-c.kept) || reports != 1 {
				t.Errorf("%s: %d lines in %d reports", c.name, lines, reports)
			}
			if got := strings.Count(d.text(), "\n"); got != c.kept {
				t.Errorf("%s: %d lines arrived, want %d", c.name, got, c.kept)
			}
			write(t, q, "after\n")
			closeQueue(t, q)
			if !strings.HasSuffix(d.text(), "after\n") {
				t.Errorf("%s: a line after the drops did not arrive", c.name)
			}
		}
	})
}

// TestQueueReportsAtIntervals checks that lines dropped after a report are reported when the
// interval is over, even if no further line is written.
func TestQueueReportsAtIntervals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		d := &destination{fail: errors.New("no space")}
		q := open(d, registry, nil)
		write(t, q, "a\n")
		synctest.Wait()
		if lines, reports := d.reported(); lines != 1 || reports != 1 || d.reports[0].Reason() != "no space" {
			t.Errorf("at once: %d lines in %d reports", lines, reports)
		}
		for range 5 {
			write(t, q, "b\n")
			time.Sleep(time.Second)
		}
		if lines, _ := d.reported(); lines != 1 {
			t.Errorf("after 5 s: %d lines", lines)
		}
		time.Sleep(6 * time.Second)
		if lines, reports := d.reported(); lines != 6 || reports != 2 {
			t.Errorf("after 11 s: %d lines in %d reports", lines, reports)
		}
		write(t, q, "c\n")
		closeQueue(t, q)
		if lines, _ := d.reported(); lines != 7 {
			t.Errorf("when it closed: %d lines", lines)
		}
		if n := dropped(t, registry, "failed"); n != 7 {
			t.Errorf("the metric counts %v", n)
		}
	})
}

// TestQueueLingers checks that lines written within the interval form one batch, unless it is full
// before.
func TestQueueLingers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &destination{}
		q := open(d, prometheus.NewRegistry(), func(cfg *logsink.Config) { cfg.Linger, cfg.BatchLines = time.Second, 3 })
		write(t, q, "1\n")
		time.Sleep(time.Second / 2)
		write(t, q, "2\n")
		synctest.Wait()
		if d.text() != "" {
			t.Errorf("delivered too early: %q", d.text())
		}
		time.Sleep(time.Second)
		for _, line := range []string{"3\n", "4\n", "5\n", "6\n"} {
			write(t, q, line)
		}
		synctest.Wait()
		if got := fmt.Sprintf("%q", d.batches); got != `["1\n2\n" "3\n4\n5\n"]` {
			t.Errorf("batches %s", got)
		}
		closeQueue(t, q)
		if len(d.batches) != 3 {
			t.Errorf("the last line waited: %q", d.batches)
		}
	})
}

// TestCloseGivesUp checks that Close returns in bounded time if the destination takes no lines.
func TestCloseGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &destination{gate: make(chan struct{})}
		q := open(d, prometheus.NewRegistry(), nil)
		write(t, q, "x\n")
		began := time.Now()
		if err := q.Close(); !errors.Is(err, logsink.ErrBlocked) {
			t.Errorf("closed: %v", err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("closing took %s", took)
		}
		close(d.gate)
		write(t, q, "after the end\n")
		synctest.Wait()
		if strings.Contains(d.text(), "after") {
			t.Error("a closed queue takes lines")
		}
	})
}

// BenchmarkWrite measures what a line costs whoever logs it.
func BenchmarkWrite(b *testing.B) {
	q := logsink.Open(logsink.Config{
		Name: "bench", MaxBytes: 4 << 20, MaxLines: 16384, Metrics: logsink.NewMetrics(prometheus.NewRegistry()),
		Deliver: func(context.Context, []byte) error { return nil },
	})
	line := []byte(strings.Repeat("x", 800) + "\n")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = q.Write(line)
	}
	if err := q.Close(); err != nil {
		b.Error(err)
	}
}
