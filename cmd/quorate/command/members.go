package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"quorate/apiserver/admin"
	"quorate/cmd/quorate/operator"
)

func newMembers(p *Process) *cobra.Command {
	var a access
	var o output
	var w watch
	cmd := &cobra.Command{
		Use: "members", Short: "List the nodes of the cluster; the exit code is 1 without a quorum", Args: arguments(0, 0),
		Long: "Ask all nodes of the cluster what they have applied. A dash is a value that is unknown, as all of a node\n" +
			"that does not respond within a second or two. LAG is how many of the leader's log entries a node has not\n" +
			"applied, CONTACT the time since the node heard from the leader.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(o.check(), w.check()); err != nil {
				return err
			}
			return w.run(cmd.Context(), p, func(ctx context.Context, to io.Writer) error {
				return a.ask(ctx, func(ctx context.Context, c *operator.Client) error {
					members, err := c.Members(ctx)
					if err != nil {
						return err
					}
					err = o.print(to, members, func(to io.Writer, wide bool) error { return printMembers(to, members, wide) })
					if err == nil {
						err = admin.QuorumOf(members).Err()
					}
					return err
				})
			})
		},
	}
	a.register(p, cmd.Flags())
	o.register(cmd)
	w.register(cmd.Flags())
	return cmd
}

// alarmsOf returns the names of the alarms about a member, "none" without any. Other members may
// have raised alarms about one that does not respond.
func alarmsOf(m admin.Member) string {
	if len(m.Alarms) == 0 && !m.IsAlive() {
		return unknown
	}
	if len(m.Alarms) == 0 {
		return "none"
	}
	names := make([]string, len(m.Alarms))
	for i, a := range m.Alarms {
		names[i] = a.Name
	}
	return strings.Join(names, ",")
}

// printMembers prints a table, and with wide the last index of each log and what the alarms say.
func printMembers(w io.Writer, members []admin.Member, wide bool) error {
	fmt.Fprintln(w, admin.QuorumOf(members))
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	header := "NAME\tROLE\tALIVE\tTERM\tAPPLIED\tLAG\tCONTACT\tFREE DISK\tVERSION\tAPI\tPEER\tALARMS"
	if wide {
		header += "\tLAST INDEX\tWHAT IS WRONG\tWHAT TO DO"
	}
	fmt.Fprintln(table, header)
	for _, m := range members {
		cells := []string{
			m.Name, m.Role, known(m.Alive), known(m.Term), known(m.AppliedIndex), known(m.Lag), contactOf(m), diskOf(m), known(m.Version),
			cmp.Or(m.APIAddr, unknown), m.PeerAddr, alarmsOf(m),
		}
		if wide {
			cells = append(cells, known(m.LastIndex), join(m, func(a admin.Alarm) string { return a.Message }), join(m, func(a admin.Alarm) string { return a.Advice }))
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

// join returns what the alarms about a member say, unknown without any.
func join(m admin.Member, text func(admin.Alarm) string) string {
	texts := make([]string, len(m.Alarms))
	for i, a := range m.Alarms {
		texts[i] = text(a)
	}
	return cmp.Or(strings.Join(texts, "; "), unknown)
}

// unknown is the cell of a value that is unknown.
const unknown = "-"

// known returns the cell of a value that may be unknown.
func known[T any](value *T) string {
	if value == nil {
		return unknown
	}
	return fmt.Sprint(*value)
}

func contactOf(m admin.Member) string {
	if m.LastContactSeconds == nil {
		return unknown
	}
	return time.Duration(*m.LastContactSeconds * float64(time.Second)).Round(time.Millisecond).String()
}

func diskOf(m admin.Member) string {
	if m.DiskFreeBytes == nil {
		return unknown
	}
	return fmt.Sprintf("%.1f GiB", float64(*m.DiskFreeBytes)/(1<<30))
}
