//go:build alerts

package deploy_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"quorate/chaos/nodes"
)

// faultPatience is the time limit of each scenario.
const faultPatience = 20 * time.Minute

// TestFaults lets every alert fire by a real fault and clear by its repair, and reports how long
// both took: make alerts. It takes about ten minutes, most of which are waits for the durations of
// the rules.
func TestFaults(t *testing.T) {
	program(t, "prometheus")
	m := &measurements{}
	scenarios := []struct {
		name string
		run  func(t *testing.T, m *measurements)
	}{
		{"Diverged", diverged}, // the longest ones first
		{"FullDisks", fullDisks},
		{"BackupOverdue", backupOverdue},
		{"SlowAndHangingDisk", slowAndHangingDisk},
		{"NoQuorum", noQuorum},
		{"DeathAtTheShippedInterval", deathAtTheShippedInterval},
		{"SlowFollower", slowFollower},
		{"RequestsRefused", requestsRefused},
		{"CertificateExpires", certificateExpires},
	}
	t.Cleanup(func() { m.report(t, len(scenarios)) })
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t, m)
			m.end()
		})
	}
}

// watched is a cluster that a Prometheus watches, and on which faults are injected.
type watched struct {
	*fleet
	*prometheus
	measured *measurements
	fault    string    // the last one
	since    time.Time // when the last fault or repair began
}

// watch starts a cluster and a Prometheus with the shortened rules. No alert fires yet.
func watch(t *testing.T, m *measurements, c nodes.ProcessesConfig) *watched {
	t.Helper()
	f := startFleet(t, faultPatience, c)
	f.use()
	p := startPrometheus(f.ctx, t, prometheusConfig{
		nodes: f.Nodes(), credentials: f.monitoring(), rules: readRules(t).shortened(t, shortening), interval: interval,
	})
	p.awaitScrapes(c.Count)
	p.awaitHealthyRules()
	return &watched{fleet: f, prometheus: p, measured: m}
}

// inject says which fault begins now.
func (w *watched) inject(fault string) { w.fault, w.since = fault, time.Now() }

// repair says that the repair begins now.
func (w *watched) repair() { w.since = time.Now() }

// expected is an alert with some of its labels.
type expected struct {
	alert  string
	labels map[string]string
}

// fires waits until all of these alerts have fired since the fault began.
func (w *watched) fires(all ...expected) {
	w.fleet.t.Helper()
	fired := map[int]bool{}
	w.await(fmt.Sprintf("these fire: %v", all), func() bool {
		firing, err := w.firing()
		if err != nil {
			return false
		}
		for i, e := range all {
			for _, a := range firing {
				if !fired[i] && a.is(e.alert, e.labels) {
					fired[i] = true
					w.measured.fired(measurement{w.fleet.t.Name(), e.alert, w.fault, time.Since(w.since), 0})
				}
			}
		}
		return len(fired) == len(all)
	})
}

// clears waits until no alert of these names fires any more.
func (w *watched) clears(names ...string) {
	w.fleet.t.Helper()
	cleared := map[string]bool{}
	w.await(fmt.Sprintf("these have cleared: %v", names), func() bool {
		firing, err := w.firing()
		if err != nil {
			return false
		}
		still := map[string]bool{}
		for _, a := range firing {
			still[a.Labels["alertname"]] = true
		}
		for _, name := range names {
			if !still[name] && !cleared[name] {
				cleared[name] = true
				w.measured.cleared(w.fleet.t.Name(), name, time.Since(w.since))
			}
		}
		return len(cleared) == len(names)
	})
}

// keepWriting creates objects at one node after another until the test ends. Writes may fail: nodes
// are at fault.
func (w *watched) keepWriting() {
	ctx, cancel := context.WithCancel(w.fleet.ctx)
	var group sync.WaitGroup
	for name, one := range w.clients {
		group.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				call, done := context.WithTimeout(ctx, 5*time.Second)
				_, _, _ = one.Create(call, namespace, fmt.Sprintf("%s-%d", name, i), map[string]string{"a": "b"})
				done()
				wait(ctx, 20*time.Millisecond)
			}
		})
	}
	w.fleet.t.Cleanup(func() { cancel(); group.Wait() })
}

// wait spaces requests.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// of returns an alert about a node.
func (w *watched) of(alert, name string) expected {
	w.fleet.t.Helper()
	for _, node := range w.Nodes() {
		if node.Name == name {
			return expected{alert, map[string]string{"instance": node.API[len("https://"):]}}
		}
	}
	w.fleet.t.Fatalf("there is no node %s", name)
	return expected{}
}
