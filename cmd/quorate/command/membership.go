package command

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"quorate/apiserver/admin"
	"quorate/cmd/quorate/operator"
)

func newLeave(p *Process) *cobra.Command {
	var a access
	var o output
	cmd := &cobra.Command{
		Use: "leave", Short: "Remove the node that serves the request from the cluster for good, and stop it", Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return a.askNode(cmd.Context(), func(ctx context.Context, c *operator.Client) error {
				if err := c.Leave(ctx); err != nil {
					return err
				}
				return o.print(p.Stdout, departed{Left: true}, func(w io.Writer, _ bool) error {
					_, err := fmt.Fprintln(w, "the node has left the cluster for good and stops; to use it again, start it with an empty data directory")
					return err
				})
			})
		},
	}
	o.register(cmd)
	a.register(p, cmd.Flags())
	return cmd
}

func newTransferLeader(p *Process) *cobra.Command {
	var a access
	var o output
	cmd := &cobra.Command{
		Use: "transfer-leader [NAME]", Short: "Transfer leadership to a voter, by default the most suitable one", Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return a.ask(cmd.Context(), func(ctx context.Context, c *operator.Client) error {
				leader, err := c.TransferLeader(ctx, name)
				if err != nil {
					return err
				}
				return o.print(p.Stdout, transferred{Leader: cmp.Or(leader, name)}, func(w io.Writer, _ bool) error {
					_, err := fmt.Fprintf(w, "%s leads now\n", cmp.Or(leader, name, "another voter"))
					return err
				})
			})
		},
	}
	o.register(cmd)
	a.register(p, cmd.Flags())
	cmd.ValidArgsFunction = a.completeMembers(func(m admin.Member) bool { return m.Role == admin.RoleVoter })
	return cmd
}

func newRemove(p *Process) *cobra.Command {
	var a access
	var o output
	var force bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Remove a dead member from the cluster for good", Args: arguments(1, 1),
		Long: "Remove a dead member from the cluster for good: its data directory is barred, and an empty node may take\n" +
			"its name. A member that responds is not removed without --force: it should leave (quorate leave).",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return a.ask(cmd.Context(), func(ctx context.Context, c *operator.Client) error {
				if err := c.Remove(ctx, args[0], force); err != nil {
					return err
				}
				return o.print(p.Stdout, removed{Removed: args[0]}, func(w io.Writer, _ bool) error {
					_, err := fmt.Fprintf(w, "%s is no longer a member\n", args[0])
					return err
				})
			})
		},
	}
	o.register(cmd)
	a.register(p, cmd.Flags())
	cmd.ValidArgsFunction = a.completeMembers(func(m admin.Member) bool { return !m.IsAlive() || force })
	cmd.Flags().BoolVar(&force, "force", false, "remove the member even if it responds; its process ends")
	return cmd
}

func newSnapshot(p *Process) *cobra.Command {
	var a access
	var o output
	cmd := &cobra.Command{
		Use: "snapshot", Short: "Write a snapshot now, on the node that serves the request", Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return a.askNode(cmd.Context(), func(ctx context.Context, c *operator.Client) error {
				s, err := c.Snapshot(ctx)
				if err != nil {
					return err
				}
				return o.print(p.Stdout, s, func(w io.Writer, _ bool) error {
					_, err := fmt.Fprintf(w, "wrote snapshot %s of index %d\n", s.ID, s.Index)
					return err
				})
			})
		},
	}
	o.register(cmd)
	a.register(p, cmd.Flags())
	return cmd
}
