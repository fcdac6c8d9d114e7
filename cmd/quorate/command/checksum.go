package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"quorate/apiserver/admin"
	"quorate/cmd/quorate/operator"
)

func newChecksum(p *Process) *cobra.Command {
	var a access
	var o output
	cmd := &cobra.Command{
		Use: "checksum", Short: "Compare the states of all nodes; the exit code is 1 if one differs or is unknown", Args: arguments(0, 0),
		Long: "Compute the checksums of all nodes' states after one log entry, and compare them. They must be equal:\n" +
			"stop a node that has diverged, remove it (quorate remove NAME), and start it with an empty data\n" +
			"directory, so that it fetches the state. The leader compares every five minutes: it logs an error if\n" +
			"states differ, and the metric quorate_raftstore_diverged_nodes counts the nodes.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return a.ask(cmd.Context(), func(ctx context.Context, c *operator.Client) error {
				sums, err := c.Checksums(ctx)
				if err != nil {
					return err
				}
				err = o.print(p.Stdout, sums, func(w io.Writer, _ bool) error { return printChecksums(w, sums) })
				if err == nil {
					err = checkChecksums(sums)
				}
				return err
			})
		},
	}
	a.register(p, cmd.Flags())
	o.register(cmd)
	return cmd
}

// checkChecksums returns nil if the states of all nodes are equal, and otherwise an error that
// names the nodes whose states differ or are unknown. If states differ it says what to do. If no
// state is that of most nodes, it advises against emptying any, because that would lose all data.
func checkChecksums(sums admin.Checksums) error {
	var missing []string
	for _, n := range sums.Nodes {
		if n.Checksum == "" {
			missing = append(missing, n.Name)
		}
	}
	switch known := len(sums.Nodes) - len(missing); len(sums.Diverged) {
	case 0:
		if len(missing) > 0 {
			return fmt.Errorf("the state of %s is unknown; those of the others are equal after entry %d", strings.Join(missing, ", "), sums.Index)
		}
		return nil
	case known:
		return fmt.Errorf("the states of %s differ after entry %d, and none is that of most: make the other nodes respond, and empty no data directory "+
			"before most agree", strings.Join(sums.Diverged, ", "), sums.Index)
	}
	return fmt.Errorf("%s diverged from the others after entry %d: stop it, quorate remove it, and start it with an empty data directory",
		strings.Join(sums.Diverged, ", "), sums.Index)
}

func printChecksums(w io.Writer, sums admin.Checksums) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAME\tINDEX\tCHECKSUM")
	for _, n := range sums.Nodes {
		sum := n.Checksum
		if n.Problem != "" {
			sum = "unknown: " + n.Problem
		}
		fmt.Fprintf(table, "%s\t%d\t%s\n", n.Name, sums.Index, sum)
	}
	return table.Flush()
}
