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

// Config says what a run does.
type Config struct {
	Fleet       nodes.Fleet
	Credentials client.Credentials
	Seed        uint64 // for the report: what it decided is in the phases
	Phases      []Phase
	// Until ends the run early: no phase begins after it. The zero time is never.
	Until time.Time
	// Unavailable are faults that were asked for and can't be had, for the report.
	Unavailable []nemesis.Unavailable
	// Load says how many clients work, and how much; a run fills in the rest.
	Load workload.Config
	// Mixture is the mixture of watches that runs beside the load.
	Mixture MixtureConfig
	// Calm is how many writes are acknowledged before it is said that writes go on.
	Calm int
	// Patience bounds how long the cluster may take for what it owes: to be whole again, to deliver
	// the last events, to tell its final states. 0 is nemesis.DefaultPatience.
	Patience time.Duration
	// BoundScale multiplies the bounds of how long writes and reads may be refused, for nodes whose
	// own timeouts are longer, or a slow machine; 0 is 1.
	BoundScale float64
	// VisualizationDir is where histories that are not linearizable are drawn; "" for nowhere. It
	// must exist.
	VisualizationDir string
	// Judged, if there is one, is called with each phase that has ended.
	Judged func(*PhaseReport)
	Log    *slog.Logger
}

// Run hurts the cluster, which must be ready, phase by phase, and returns the verdict. An error
// means that the run could not be made, or not to its end; what the cluster did wrong is in the
// report, which is there in any case.
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
			compacted = compacted || slices.ContainsFunc(judged.Strikes, func(s nemesis.Record) bool { return len(s.Forgot) > 0 })
			if c.Judged != nil {
				c.Judged(judged)
			}
		}
		if err != nil {
			err = fmt.Errorf("phase %s, seed %d: %w", phase.Name, phase.Seed, err)
			report.Incomplete = err.Error()
			return report, err
		}
		if judged.NotRecovered != "" { // what is struck next would be struck already
			if left := len(c.Phases) - i - 1; left > 0 {
				report.Incomplete = fmt.Sprintf("the cluster did not recover, so that %d phases were not begun", left)
			}
			return report, nil
		}
	}
	return report, nil
}
