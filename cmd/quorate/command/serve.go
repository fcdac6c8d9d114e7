package command

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quorate/cluster/keys"
	"quorate/cmd/quorate/node"
	"quorate/cmd/quorate/settings"
	"quorate/raftstore/log"
)

func newServe(p *Process) *cobra.Command {
	var s settings.Settings
	cmd := &cobra.Command{
		Use: "serve", Short: "Run a node", Args: arguments(0, 0),
		Long: "Run a node. Every flag may also be a key of the YAML file that --config names, and an environment\n" +
			"variable: QUORATE_ and the flag's name in capitals, with _ for -. Flags override the environment, and\n" +
			"the environment overrides the file.\n" +
			"SIGTERM stops the node in order: it transfers leadership and remains a member. A second SIGTERM ends it\n" +
			"at once.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := settings.Resolve(cmd.Flags(), p.getenv); err != nil {
				return err
			}
			if err := s.Validate(); err != nil {
				return err
			}
			var err error
			if s.DataDir, err = absolutePath(s.DataDir); err != nil {
				return err
			}
			if unknown := settings.UnknownVariables(cmd.Flags(), p.Environ); len(unknown) > 0 {
				fmt.Fprintf(p.Stderr, "quorate: ignored, no such flag: %s\n", strings.Join(unknown, ", "))
			}
			return serve(cmd, p, s)
		},
	}
	cmd.Flags().String("config", "", "YAML file with these flags as keys")
	s.Register(cmd.Flags(), hostName())
	completeSettings(cmd)
	return cmd
}

func serve(cmd *cobra.Command, p *Process, s settings.Settings) error {
	key, err := givenKey(p, &s)
	if err != nil {
		return err
	}
	n, err := newNode(cmd.Context(), node.Config{
		Settings: s, Key: key, Build: p.Build,
		Getenv: p.getenv, Stdout: p.Stdout, Stderr: p.Stderr,
	})
	if log.OutOfSpace(err) {
		return nil // stopped while it waited for space
	}
	if err != nil {
		return err
	}
	return n.Run(cmd.Context())
}

// spacePause is how long a node that starts on a full disk waits before it tries again.
const spacePause = time.Second

// newNode creates the node, and waits while the disk has no space for the files of a start: a
// process that ended instead would only be restarted.
func newNode(ctx context.Context, cfg node.Config) (*node.Node, error) {
	said := false
	for {
		n, err := node.New(cfg)
		if !log.OutOfSpace(err) {
			return n, err
		}
		if !said {
			fmt.Fprintf(cfg.Stderr, "quorate: the disk is full, and this node waits to be started until there is space: %v\n", err)
			said = true
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(spacePause):
		}
	}
}

// givenKey returns the cluster key that the operator gave, nil if none.
func givenKey(p *Process, s *settings.Settings) (*keys.Key, error) {
	text, inEnvironment := p.getenv(settings.KeyVariable)
	switch {
	case inEnvironment && s.KeyFile != "":
		return nil, fmt.Errorf("--cluster-key-file and %s are both given: give one", settings.KeyVariable)
	case inEnvironment:
		return keyFromText(text)
	case s.KeyFile != "":
		return keyFromFile(s.KeyFile)
	}
	return nil, nil
}

// hostName returns the default of --name. Validate reports a host name that is no node name.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return strings.ToLower(name)
}
