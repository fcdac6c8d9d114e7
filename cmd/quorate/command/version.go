package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// versionInfo is the output of `quorate version`.
type versionInfo struct {
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	Date      string `json:"date,omitempty"`      // RFC 3339, of the commit
	TreeState string `json:"treeState,omitempty"` // clean or dirty
}

func newVersion(p *Process) *cobra.Command {
	var o output
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return o.print(p.Stdout, versionInfo(p.Build), func(w io.Writer, _ bool) error {
				_, err := fmt.Fprint(w, p.version())
				return err
			})
		},
	}
	o.register(cmd)
	return cmd
}

// version returns the line that `quorate version` and --version print.
func (p *Process) version() string {
	tree := ""
	if p.Build.TreeState != "" {
		tree = ", " + p.Build.TreeState
	}
	return fmt.Sprintf("quorate %s (commit %s%s)\n", p.Build.Version, p.Build.Commit, tree)
}
