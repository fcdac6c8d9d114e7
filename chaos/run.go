package chaos

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
	"quorate/chaos/workload"
)

// Config configures a run.
type Config struct {
	Fleet       nodes.Fleet
	Credentials client.Credentials
	Seed        uint64 // for the report; the phases contain their own seeds
	Phases      []Phase
	// Until is the time after which no phase begins. The zero time means no limit.
	Until time.Time
	// Unavailable lists requested faults that are not possible, for the report.
	Unavailable []nemesis.Unavailable
	// Load configures the clients. A run fills in the rest.
	Load workload.Config
	// Mixture configures the mixture of watches that runs beside the load.
	Mixture MixtureConfig
	// Calm is the number of further acknowledged writes that proves that writes continue.
	Calm int
	// Patience limits how long the cluster may take to recover, to deliver the last events, and to
	// return its final states. 0 means nemesis.DefaultPatience.
	Patience time.Duration
	// BoundScale multiplies the bounds on outages, for nodes with longer timeouts or for a slow
	// machine; 0 means 1.
	BoundScale float64
	// VisualizationDir is an existing directory for drawings of histories that are not
	// linearizable; "" for none.
	VisualizationDir string
	// Judged, if not nil, is called with each phase that has ended.
	Judged func(*PhaseReport)
	Log    *slog.Logger
}

// Run runs the phases in order against the cluster, which must be ready, and always returns a
// report. Misbehavior of the cluster is part of the report and not an error. Run stops without an
// error when the cluster does not recover after a phase, or when c.Until has passed. An error means
// that a phase could not start or complete.
func Run(ctx context.Context, c Config) (*Report, error) {
	report := &Report{Seed: c.Seed, Began: time.Now(), Unavailable: c.Unavailable}
	observer := nemesis.NewObserver(c.Credentials)
	defer observer.Close()
	targets := follow(c.Fleet, c.Credentials, c.Log)
	defer targets.close()
	defer func() { report.Seconds = time.Since(report.Began).Seconds() }()
	compacted := false
	for i, phase := range c.Phases {
		if !c.Until.IsZero() && time.Now().After(c.Until) {
			break
		}
		p := &running{Config: c, phase: phase, targets: targets.Targets, observer: observer, compacted: compacted}
		judged, err := p.run(ctx)
		if judged != nil {
			report.Phases = append(report.Phases, judged)
			compacted = compacted || slices.ContainsFunc(judged.Injections, func(s nemesis.Record) bool { return len(s.Forgot) > 0 })
			if c.Judged != nil {
				c.Judged(judged)
			}
		}
		if err != nil {
			err = fmt.Errorf("phase %s, seed %d: %w", phase.Name, phase.Seed, err)
			report.Incomplete = err.Error()
			return report, err
		}
		if judged.NotRecovered != "" { // the next faults would be injected into a cluster that has not recovered
			if left := len(c.Phases) - i - 1; left > 0 {
				report.Incomplete = fmt.Sprintf("the cluster did not recover, so that %d phases were not begun", left)
			}
			return report, nil
		}
	}
	return report, nil
}
