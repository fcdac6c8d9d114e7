package command

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"quorate/cmd/quorate/demo"
)

func newDemo(p *Process) *cobra.Command {
	cfg := demo.Config{Environ: p.Environ, In: os.Stdin, Out: p.Stdout}
	cmd := &cobra.Command{
		Use: "demo", Short: "Run three nodes in this terminal, and kill them by keys", Args: arguments(0, 0),
		Long: "Run a cluster of three real nodes in a temporary directory, print the kubeconfig for kubectl, and show the\n" +
			"roles, terms and versions of the nodes. Keys kill nodes with SIGKILL, start them again and add further ones.\n" +
			"At the end all nodes are killed and the directory is removed. Without a terminal it prints a line for each\n" +
			"change, takes no keys, and runs until SIGTERM.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			binary, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find the binary that the nodes shall run: %w", err)
			}
			cfg.Binary = binary
			return demo.Run(cmd.Context(), cfg)
		},
	}
	cmd.Flags().BoolVar(&cfg.Keep, "keep", false, "keep the directory with the data and logs of the nodes")
	return cmd
}
