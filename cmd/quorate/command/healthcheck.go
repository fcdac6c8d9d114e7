package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"quorate/cmd/quorate/operator"
)

const (
	// askTimeout bounds one attempt: container engines allow a health check a few seconds.
	askTimeout = 3 * time.Second
	// askInterval is the pause between two attempts of --wait.
	askInterval = 200 * time.Millisecond
)

func newHealthcheck(p *Process) *cobra.Command {
	var a access
	var wait time.Duration
	cmd := &cobra.Command{
		Use: "healthcheck", Short: "Check whether the node is ready; the exit code is 1 if not", Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.awaitReady(cmd.Context(), wait)
		},
	}
	a.register(p, cmd.Flags())
	a.timeout = askTimeout
	cmd.Flags().Lookup("timeout").DefValue = askTimeout.String()
	cmd.Flags().DurationVar(&wait, "wait", 0, "keep asking for so long until the node is ready")
	return cmd
}

// awaitReady asks once, then repeatedly until the node is ready or the time of --wait has passed.
func (a *access) awaitReady(ctx context.Context, wait time.Duration) error {
	ready := func() error {
		return a.askNode(ctx, func(ctx context.Context, c *operator.Client) error { return c.Ready(ctx) })
	}
	err := ready()
	if wait == 0 || err == nil {
		return notReady(err)
	}
	expired := time.NewTimer(wait)
	defer expired.Stop()
	again := time.NewTicker(askInterval)
	defer again.Stop()
	for err != nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-expired.C:
			return notReady(err)
		case <-again.C:
			err = ready()
		}
	}
	return nil
}

func notReady(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("not ready: %w", err)
}
