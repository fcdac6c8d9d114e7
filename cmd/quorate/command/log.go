package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"quorate/apiserver/admin"
	"quorate/cmd/quorate/operator"
)

// defaultLogEntries is how many entries quorate log shows.
const defaultLogEntries = 20

func newLog(p *Process) *cobra.Command {
	var a access
	var o output
	var before uint64
	var limit int
	cmd := &cobra.Command{
		Use: "log [INDEX]", Short: "Show the last entries of a node's log, or the change that one of them made", Args: arguments(0, 1),
		Long: "Show the last entries of the log of one node, the newest last: what each did to which object, and whether\n" +
			"it is applied on that node. With INDEX, which is also the resourceVersion of what the entry stored, show\n" +
			"the object before and after it. The first needs the verb log of the operations, the second also the right\n" +
			"to get that object.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if limit <= 0 {
				return usageError{fmt.Errorf("--limit %d: want at least 1", limit)}
			}
			if len(args) == 0 {
				return a.askNode(cmd.Context(), func(ctx context.Context, c *operator.Client) error {
					return showEntries(ctx, c, p.Stdout, &o, before, limit)
				})
			}
			index, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil || index == 0 {
				return usageError{fmt.Errorf("%q is no index of a log entry", args[0])}
			}
			return a.askNode(cmd.Context(), func(ctx context.Context, c *operator.Client) error {
				change, err := c.Change(ctx, index)
				if err != nil {
					return err
				}
				return o.print(p.Stdout, change, func(w io.Writer, _ bool) error { return printChange(w, change) })
			})
		},
	}
	a.register(p, cmd.Flags())
	o.register(cmd)
	cmd.Flags().Uint64Var(&before, "before", 0, "show the entries before this one")
	cmd.Flags().IntVar(&limit, "limit", defaultLogEntries, "how many entries to show, 500 at most")
	return cmd
}

func showEntries(ctx context.Context, c *operator.Client, to io.Writer, o *output, before uint64, limit int) error {
	entries, err := c.Entries(ctx, before, limit)
	if err != nil {
		return err
	}
	slices.Reverse(entries)
	return o.print(to, entries, func(w io.Writer, _ bool) error { return printEntries(w, entries) })
}

func printEntries(w io.Writer, entries []admin.Entry) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "INDEX\tTERM\tTIME\tSTAGE\tBYTES\tOPERATION\tOBJECT")
	for _, e := range entries {
		at := unknown
		if e.Time != nil {
			at = e.Time.Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%d\t%d\t%s\t%s\t%d\t%s\t%s\n", e.Index, e.Term, at, e.Stage, e.Bytes, e.Operation, nameOfObject(e.Object))
	}
	return table.Flush()
}

func nameOfObject(o *admin.EntryObject) string {
	if o == nil {
		return unknown
	}
	resource, name := o.Resource, o.Name
	if o.Group != "" {
		resource += "." + o.Group
	}
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return resource + " " + name
}

func printChange(w io.Writer, c admin.Change) error {
	if err := printEntries(w, []admin.Entry{c.Entry}); err != nil {
		return err
	}
	before := "none"
	if c.BeforeUnknown {
		before = "no longer in the log"
	}
	for _, part := range []struct {
		title, missing string
		object         json.RawMessage
	}{{"before", before, c.Before}, {"after", "none", c.After}} {
		text, err := yamlOf(part.object)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\n--- %s\n%s", part.title, cmp.Or(text, part.missing+"\n"))
	}
	return nil
}

// yamlOf returns a JSON document as YAML, "" for null.
func yamlOf(document json.RawMessage) (string, error) {
	if len(document) == 0 || string(document) == "null" {
		return "", nil
	}
	text, err := yaml.JSONToYAML(document)
	if err != nil {
		return "", fmt.Errorf("encode YAML: %w", err)
	}
	return string(text), nil
}
