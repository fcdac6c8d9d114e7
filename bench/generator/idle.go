package generator

import (
	"context"
	"time"

	"quorate/bench/servers"
)

// Idle leaves a cluster alone for the time settle, and then measures the processor time of its
// processes for the time length. An operation is a second.
func Idle(ctx context.Context, c *servers.Cluster, label string, settle, length time.Duration) (m Measurement, err error) {
	if err := pause(ctx, settle); err != nil {
		return m, err
	}
	before, err := c.CPUTime()
	if err != nil {
		return m, err
	}
	began := time.Now()
	if err := pause(ctx, length); err != nil {
		return m, err
	}
	after, err := c.CPUTime()
	if err != nil {
		return m, err
	}
	took := time.Since(began).Seconds()
	return Measurement{Label: label, Scenario: "idle", Seconds: took, Ops: int(took), CPU: float64((after - before).Microseconds()) / took}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
