package command

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"quorate/cmd/quorate/datadir"
	"quorate/progress"
	"quorate/raftstore/offline"
)

// inspection is the output of `quorate inspect`.
type inspection struct {
	DataDir string `json:"dataDir"`
	Name    string `json:"name,omitempty"`
	NodeID  string `json:"nodeID,omitempty"`
	*offline.Report
}

func newInspect(p *Process) *cobra.Command {
	var o output
	var entries int
	cmd := &cobra.Command{
		Use: "inspect DATA", Short: "Show and verify the data directory of a stopped node", Args: arguments(1, 1),
		Long: "Show what a data directory holds, offline: the node, its cluster and members, term and vote, log,\n" +
			"snapshots, state, and the last entries of the log (never the content of objects). It changes nothing.\n" +
			"It reads everything and verifies all checksums. The exit code is 1 if something is damaged or was\n" +
			"written by a build that this one does not know; the report goes as far as possible.",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			found, err := inspect(p, args[0], entries)
			if err != nil {
				return err
			}
			err = o.print(p.Stdout, found, func(w io.Writer, _ bool) error { return found.print(w) })
			if err == nil && len(found.Problems) > 0 {
				err = found.verdict()
			}
			return err
		},
	}
	o.register(cmd)
	cmd.Flags().IntVar(&entries, "entries", 0, "how many of the log's last entries to show")
	return cmd
}

// verdict returns the first problem, nil if there is none. If the only problem is an entry of
// another build, nothing is damaged.
func (f *inspection) verdict() error {
	what := "is damaged"
	if f.OtherBuild && len(f.Problems) == 1 {
		what = "was used by another build"
	}
	return fmt.Errorf("%s %s: %s", f.DataDir, what, f.Problems[0])
}

func inspect(p *Process, path string, entries int) (*inspection, error) {
	path, err := absolutePath(path)
	if err != nil {
		return nil, err
	}
	dir, err := datadir.Peek(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	found := &inspection{DataDir: path}
	name, id, damaged := dir.Node()
	found.Name, found.NodeID = name, id
	shown := progress.New(p.Stderr, "inspect "+path, 0, progress.Bytes())
	defer shown.End()
	if found.Report, err = offline.Inspect(path, entries, shown); err != nil {
		return nil, err
	}
	if damaged != nil {
		found.Problems = append([]string{damaged.Error()}, found.Problems...)
	}
	return found, nil
}

func (f *inspection) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintf(t, "node\t%s\t%s\n", orNone(f.Name), f.NodeID)
	fmt.Fprintf(t, "cluster\t%s\n", orNone(f.ClusterID))
	for _, m := range f.Members {
		role := "nonvoter"
		if m.Voter {
			role = "voter"
		}
		fmt.Fprintf(t, "member\t%s\t%s\t%s\n", m.Name, m.PeerAddr, role)
	}
	fmt.Fprintf(t, "term\t%d\n", f.Term)
	if f.Vote != nil {
		fmt.Fprintf(t, "vote\t%s\tin term %d\n", f.Vote.For, f.Vote.Term)
	}
	fmt.Fprintf(t, "log\t%d to %d\t%d bytes\n", f.Log.First, f.Log.Last, f.Log.Bytes)
	for _, s := range f.Snapshots {
		fmt.Fprintf(t, "snapshot\t%s\tindex %d, term %d, %d bytes: %s\n", s.ID, s.Index, s.Term, s.Bytes, whole(s.Damage == ""))
	}
	fmt.Fprintf(t, "state\t%d objects\tafter entry %d, %d bytes in memory, checksum %s\n", f.State.Objects, f.State.Index, f.State.Bytes, f.State.Checksum)
	for _, r := range f.State.Resources {
		fmt.Fprintf(t, "objects\t%s\t%d, %d bytes\n", r.Name, r.Objects, r.Bytes)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, e := range f.Entries { // a table of its own
		at := "-"
		if !e.Time.IsZero() {
			at = e.Time.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(t, "entry\t%d\tterm %d\t%s\t%d bytes\t%s\n", e.Index, e.Term, at, e.Bytes, e.What)
	}
	for _, problem := range f.Problems {
		fmt.Fprintf(t, "problem\t%s\n", problem)
	}
	return t.Flush()
}

func orNone(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func whole(is bool) string {
	if is {
		return "whole"
	}
	return "damaged"
}
