package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"quorate/apiserver/admin"
	"quorate/cmd/quorate/operator"
)

func newMembers(p *Process) *cobra.Command {
	var a access
	var output string
	cmd := &cobra.Command{
		Use: "members", Short: "List the nodes of the cluster", Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "table" && output != "json" {
				return usageError{fmt.Errorf("--output %q: want table or json", output)}
			}
			return a.ask(cmd.Context(), func(ctx context.Context, c *operator.Client) error {
				members, err := c.Members(ctx)
				if err != nil {
					return err
				}
				if output == "json" {
					return printJSON(p.Stdout, members)
				}
				return printMembers(p.Stdout, members)
			})
		},
	}
	a.register(p, cmd.Flags())
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	return cmd
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// alarmsOf returns the names of the alarms about a member, "none" without any.
func alarmsOf(m admin.Member) string {
	if len(m.Alarms) == 0 {
		return "none"
	}
	names := make([]string, len(m.Alarms))
	for i, a := range m.Alarms {
		names[i] = a.Name
	}
	return strings.Join(names, ",")
}

func printMembers(w io.Writer, members []admin.Member) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAME\tAPI\tPEER\tROLE\tALIVE\tAPPLIED\tLAST\tALARMS")
	for _, m := range members {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%t\t%d\t%d\t%s\n",
			m.Name, m.APIAddr, m.PeerAddr, m.Role, m.Alive, m.AppliedIndex, m.LastIndex, alarmsOf(m))
	}
	return table.Flush()
}
