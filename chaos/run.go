package chaos

import (
	"context"
	"fmt"
	"log/slog"
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
	// Load says how many clients work, and how much; a run fills in the rest.
	Load workload.Config
	// Mixture is the mixture of watches that runs beside the load.
	Mixture MixtureConfig
	// Calm is how many writes are acknowledged before it is said that writes go on.
	Calm int
	// Patience bounds how long the cluster may take for what it owes: to be whole again, to deliver the last events, to tell its final
	// states. 0 is nemesis.DefaultPatience.
	Patience time.Duration
	// VisualizationDir is where histories that are not linearizable are drawn; "" for nowhere. It must exist.
	VisualizationDir string
	// Judged, if there is one, is called with each phase that has ended.
	Judged func(*PhaseReport)
	Log    *slog.Logger
}

// Run hurts the cluster, which must be ready, phase by phase, and returns the verdict. An error means that the run could not be made, or
// not to its end; what the cluster did wrong is in the report, which is there in any case.
func Run(ctx context.Context, c Config) (*Report, error) {
	report := &Report{Seed: c.Seed, Began: time.Now()}
	observer := nemesis.NewObserver(c.Credentials)
	defer observer.Close()
	targets := follow(c.Fleet, c.Credentials, c.Log)
	defer targets.close()
	defer func() { report.Seconds = time.Since(report.Began).Seconds() }()
	for i, phase := range c.Phases {
		if !c.Until.IsZero() && time.Now().After(c.Until) {
			break
		}
		p := &running{Config: c, phase: phase, targets: targets.Targets, observer: observer}
		judged, err := p.run(ctx)
		if judged != nil {
			report.Phases = append(report.Phases, judged)
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
