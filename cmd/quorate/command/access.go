package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
	p          *Process
	flags      *pflag.FlagSet
	dataDir    string
	kubeconfig string
	context    string
	server     string
	timeout    time.Duration
}

func (a *access) register(p *Process, flags *pflag.FlagSet) {
	a.p, a.flags = p, flags
	flags.StringVar(&a.dataDir, dataDirFlag, defaultDataDir(p), "data directory of a node on this machine, whose admin.kubeconfig is used")
	flags.StringVar(&a.kubeconfig, "kubeconfig", "",
		"addresses and credentials (default: $KUBECONFIG, then admin.kubeconfig in the data directory, then ~/.kube/config)")
	flags.StringVar(&a.context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.StringVar(&a.server, "server", "", "URL of the only node to ask, instead of the kubeconfig's")
	flags.DurationVar(&a.timeout, "timeout", patience, "longest time to wait for the response")
}

// dataDirFlag is the flag of serve and of all commands that names a data directory.
const dataDirFlag = "data-dir"

// defaultDataDir returns the data directory of serve: in a container, commands and node share the
// environment.
func defaultDataDir(p *Process) string {
	if dir, ok := p.getenv(settings.Variable(dataDirFlag)); ok {
		return dir
	}
	return settings.DefaultDataDir
}

// config returns the addresses and credentials to use, from the first of these places: the flag
// --kubeconfig, the flag --data-dir, the files of $KUBECONFIG, the data directory of serve, and
// kubectl's own file. A flag overrides the environment; the last two are used only if they exist.
func (a *access) config() (kubeconfig.Config, error) {
	paths, err := a.kubeconfigs()
	if err != nil {
		return kubeconfig.Config{}, err
	}
	config, err := kubeconfig.Load(paths, a.context)
	if errors.Is(err, kubeconfig.ErrNoFile) {
		return config, fmt.Errorf("%w: give --kubeconfig, or --data-dir of a node on this machine", err)
	}
	if err != nil {
		return config, err
	}
	if a.server != "" {
		config.Server, config.Others = a.server, nil
	}
	return config, nil
}

// kubeconfigs returns the absolute paths of the files that config merges.
func (a *access) kubeconfigs() ([]string, error) {
	ofNode := filepath.Join(a.dataDir, datadir.KubeconfigFile)
	list, inEnvironment := a.p.getenv("KUBECONFIG")
	switch {
	case a.kubeconfig != "":
		return absolute(a.kubeconfig)
	case a.flags.Changed(dataDirFlag):
		return absolute(ofNode)
	case inEnvironment:
		return absolute(filepath.SplitList(list)...)
	}
	places := []string{ofNode}
	if home, ok := a.p.getenv("HOME"); ok {
		places = append(places, filepath.Join(home, ".kube", "config"))
	}
	for _, path := range places {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return absolute(path) // what else is wrong with it, reading it reports
		}
	}
	places, err := absolute(places...)
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("there is no %s: give --kubeconfig, or --data-dir of a node on this machine", strings.Join(places, ", no "))
}

// absolute returns absolute paths; it leaves out empty ones, which a list such as $KUBECONFIG may
// have.
func absolute(paths ...string) ([]string, error) {
	var all []string
	for _, path := range paths {
		if path == "" {
			continue
		}
		path, err := absolutePath(path)
		if err != nil {
			return nil, err
		}
		all = append(all, path)
	}
	return all, nil
}

// absolutePath returns the path as messages print it: a reader may be in another directory.
func absolutePath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	return path, nil
}

// client returns a client of the cluster, which asks the first node that can be reached.
func (a *access) client() (*operator.Client, error) {
	config, err := a.config()
	if err != nil {
		return nil, err
	}
	return operator.New(config)
}

// ask runs one exchange with a node of the cluster, for at most the time of --timeout.
func (a *access) ask(ctx context.Context, exchange func(context.Context, *operator.Client) error) error {
	config, err := a.config()
	if err != nil {
		return err
	}
	return a.exchange(ctx, config, exchange)
}

// askNode is ask for a command about the node that serves the request: it asks only the server of
// the context, and no other in its place.
func (a *access) askNode(ctx context.Context, exchange func(context.Context, *operator.Client) error) error {
	config, err := a.config()
	if err != nil {
		return err
	}
	config.Others = nil
	return a.exchange(ctx, config, exchange)
}

func (a *access) exchange(ctx context.Context, config kubeconfig.Config, exchange func(context.Context, *operator.Client) error) error {
	client, err := operator.New(config)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return exchange(ctx, client)
}
