package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"quorate/apiserver/admin"
	"quorate/cmd/quorate/operator"
	"quorate/cmd/quorate/overview"
)

func newStatus(p *Process) *cobra.Command {
	var a access
	var o output
	var w watch
	cmd := &cobra.Command{
		Use: "status", Short: "Show on one screen whether the cluster is well, and what to do if not", Args: arguments(0, 0),
		Long: "Show the state of the cluster on one screen: the verdict, the leader and its term, the voters and how many\n" +
			"more of them may fail, the largest lag, rates and latencies, versions, the least free disk, and alarms with what to do.\n" +
			"The verdict is healthy; degraded if the cluster serves and a member is silent or has an alarm; or down if\n" +
			"it cannot write. The exit code is 1 if it is down. With wide, the members follow.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(o.check(), w.check()); err != nil {
				return err
			}
			return w.run(cmd.Context(), p, func(ctx context.Context, to io.Writer) error {
				return a.ask(ctx, func(ctx context.Context, c *operator.Client) error {
					return showStatus(ctx, p, c, &o, to)
				})
			})
		},
	}
	a.register(p, cmd.Flags())
	o.register(cmd)
	w.register(cmd.Flags())
	return cmd
}

func showStatus(ctx context.Context, p *Process, c *operator.Client, o *output, to io.Writer) error {
	members, err := c.Members(ctx)
	if err != nil {
		return err
	}
	status := overview.Of(members)
	if known, err := c.Rates(ctx); err == nil { // a user who may read the members only sees no rates
		status.AddRates(known)
	}
	err = o.print(to, status, func(to io.Writer, wide bool) error {
		if err := printStatus(p, to, status); err != nil || !wide {
			return err
		}
		fmt.Fprintln(to)
		return printMembers(to, members, wide)
	})
	if err == nil {
		err = admin.QuorumOf(members).Err()
	}
	return err
}

func printStatus(p *Process, to io.Writer, s overview.Status) error {
	c := map[overview.Verdict]colour{overview.Healthy: green, overview.Degraded: yellow, overview.Down: red}[s.Verdict]
	fmt.Fprintf(to, "%s: %s\n", p.paint(p.Stdout, c, string(s.Verdict)), s.Summary)
	table := tabwriter.NewWriter(to, 0, 0, 3, ' ', 0)
	for _, l := range s.Lines() {
		fmt.Fprintf(table, "%s\t%s\n", l.Label, l.Value)
	}
	return table.Flush()
}
