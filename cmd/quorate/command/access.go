package command

import (
	"context"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"quorate/apiserver/admin"
	"quorate/cmd/quorate/datadir"
	"quorate/cmd/quorate/kubeconfig"
	"quorate/cmd/quorate/operator"
	"quorate/cmd/quorate/settings"
)

// patience exceeds the time that a node takes for any command, so that its own timeout error still
// arrives.
const patience = admin.Deadline + 5*time.Second

// access holds the flags of commands that send a request to a running node.
type access struct {
	dataDir    string
	kubeconfig string
	server     string
	timeout    time.Duration
}

func (a *access) register(p *Process, flags *pflag.FlagSet) {
	flags.StringVar(&a.dataDir, "data-dir", defaultDataDir(p), "data directory of a node on this machine")
	flags.StringVar(&a.kubeconfig, "kubeconfig", "", "address and credentials of the API (default: admin.kubeconfig in the data directory)")
	flags.StringVar(&a.server, "server", "", "URL of the node, instead of the kubeconfig's")
	flags.DurationVar(&a.timeout, "timeout", patience, "longest time to wait for the response")
}

// defaultDataDir returns the data directory of serve: in a container, commands and node share the
// environment.
func defaultDataDir(p *Process) string {
	if dir, ok := p.getenv(settings.Variable("data-dir")); ok {
		return dir
	}
	return settings.DefaultDataDir
}

func (a *access) client() (*operator.Client, error) {
	path := a.kubeconfig
	if path == "" {
		path = filepath.Join(a.dataDir, datadir.KubeconfigFile)
	}
	config, err := kubeconfig.Read(path)
	if err != nil {
		return nil, err
	}
	if a.server != "" {
		config.Server = a.server
	}
	return operator.New(config)
}

// ask runs one exchange with the node, for at most the time of --timeout.
func (a *access) ask(ctx context.Context, exchange func(context.Context, *operator.Client) error) error {
	client, err := a.client()
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return exchange(ctx, client)
}
