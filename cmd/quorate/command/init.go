package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"quorate/cmd/quorate/datadir"
	"quorate/cmd/quorate/settings"
)

func newInit(p *Process) *cobra.Command {
	var s settings.Settings
	var out string
	cmd := &cobra.Command{
		Use: "init", Short: "Print a commented configuration file for quorate serve", Args: arguments(0, 0),
		Long: "Print a configuration file for quorate serve --config, with every flag of serve as a commented key that\n" +
			"has its default. Flags that are given are set in it:\n\n" +
			"    quorate init --name n1 --bootstrap-expect 3 --join n1:7946,n2:7946,n3:7946 --out n1.yaml",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.Validate(); err != nil {
				return usageError{err}
			}
			content, err := settings.Template(cmd.Flags(), hostName())
			if err != nil {
				return err
			}
			if out != "" {
				return datadir.WriteFile(out, content, 0o644)
			}
			_, err = fmt.Fprintf(p.Stdout, "%s", content)
			return err
		},
	}
	s.Register(cmd.Flags(), hostName())
	completeSettings(cmd)
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	return cmd
}

// completeSettings offers the values of the flags of serve that have few.
func completeSettings(cmd *cobra.Command) {
	completeFlag(cmd, "log-format", "text", "json")
	completeFlag(cmd, "log-level", "debug", "info", "warn", "error")
	completeFlag(cmd, "request-log", "none", "errors", "writes", "all")
}
