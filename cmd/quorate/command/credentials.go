package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quorate/apiserver/access/auth"
	"quorate/cluster/keys"
	"quorate/cmd/quorate/datadir"
	"quorate/cmd/quorate/kubeconfig"
	"quorate/cmd/quorate/settings"
)

// issue holds the flags of commands that issue credentials from the cluster key, without a node.
type issue struct {
	dataDir, keyFile string
	user, uid        string
	groups           []string
	ttl              time.Duration
}

func (i *issue) register(p *Process, flags *pflag.FlagSet) {
	flags.StringVar(&i.dataDir, "data-dir", defaultDataDir(p), "data directory that holds the cluster key")
	flags.StringVar(&i.keyFile, "cluster-key-file", "", "file with the cluster key, instead of the data directory's (or "+settings.KeyVariable+")")
	flags.StringVar(&i.user, "user", "", "name of the user (required)")
	flags.StringVar(&i.uid, "uid", "", "uid of the user")
	flags.StringSliceVar(&i.groups, "group", nil, "groups of the user; system:masters may do everything")
	flags.DurationVar(&i.ttl, "ttl", 24*time.Hour, "how long the token is valid")
}

func (i *issue) token(key *keys.Key) (string, error) {
	if i.user == "" {
		return "", usageError{errors.New("--user is required")}
	}
	if i.ttl <= 0 {
		return "", usageError{fmt.Errorf("--ttl %s: want a positive duration", i.ttl)}
	}
	return auth.NewIssuer(key.TokenSigning()).Issue(auth.Identity{Name: i.user, UID: i.uid, Groups: i.groups}, i.ttl)
}

func (i *issue) key(p *Process) (*keys.Key, error) {
	if i.keyFile != "" {
		return keyFromFile(i.keyFile)
	}
	if text, ok := p.getenv(settings.KeyVariable); ok {
		return keyFromText(text)
	}
	path := filepath.Join(i.dataDir, datadir.KeyFile)
	key, err := keys.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file: give --data-dir of a node, --cluster-key-file or %s", path, settings.KeyVariable)
	}
	return key, err
}

func keyFromFile(path string) (*keys.Key, error) {
	key, err := keys.Load(path)
	if err != nil {
		return nil, fmt.Errorf("--cluster-key-file: %w", err)
	}
	return key, nil
}

func keyFromText(text string) (*keys.Key, error) {
	key, err := keys.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", settings.KeyVariable, err)
	}
	return key, nil
}

func newToken(p *Process) *cobra.Command {
	parent := &cobra.Command{
		Use: "token", Short: "Issue bearer tokens", Args: cobra.ArbitraryArgs,
		RunE: func(*cobra.Command, []string) error {
			return usageError{errors.New("want quorate token create --user NAME")}
		},
	}
	var i issue
	var o output
	create := &cobra.Command{
		Use: "create", Short: "Print a token that every node of the cluster accepts", Args: arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if err := o.check(); err != nil {
				return err
			}
			key, err := i.key(p)
			if err != nil {
				return err
			}
			expiry := time.Now().Add(i.ttl).UTC().Truncate(time.Second) // not after that of the token
			token, err := i.token(key)
			if err != nil {
				return err
			}
			made := issued{Token: token, User: i.user, UID: i.uid, Groups: append([]string{}, i.groups...), Expiry: expiry}
			return o.print(p.Stdout, made, func(w io.Writer, _ bool) error {
				_, err := fmt.Fprintln(w, token)
				return err
			})
		},
	}
	i.register(p, create.Flags())
	o.register(create)
	parent.AddCommand(create)
	return parent
}

// defaultServer is where a node without configuration serves.
const defaultServer = "https://127.0.0.1:6443"

func newKubeconfig(p *Process) *cobra.Command {
	var i issue
	var servers []string
	var out string
	cmd := &cobra.Command{
		Use: "kubeconfig", Short: "Write a kubeconfig for a user", Args: arguments(0, 0),
		Long: "Write a kubeconfig for a user, with a token signed by the cluster key; no node needs to run.\n" +
			"It has the addresses of all members that the data directory's node knows, its own first, or those of\n" +
			"--server. Each further node has a context of its own, USER@quorate-NAME, for kubectl --context; the\n" +
			"commands of quorate try all of them in turn.",
		RunE: func(*cobra.Command, []string) error {
			content, err := i.kubeconfig(p, servers)
			if err != nil {
				return err
			}
			if out == "" {
				_, err = p.Stdout.Write(content)
				return err
			}
			return datadir.WriteFile(out, content, 0o600)
		},
	}
	i.register(p, cmd.Flags())
	cmd.Flags().StringSliceVar(&servers, "server", nil, "URLs of the nodes, the first to be tried first (default: those that the node of the data directory knows)")
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	return cmd
}

func (i *issue) kubeconfig(p *Process, servers []string) ([]byte, error) {
	key, err := i.key(p)
	if err != nil {
		return nil, err
	}
	token, err := i.token(key)
	if err != nil {
		return nil, err
	}
	authority, err := key.Authority()
	if err != nil {
		return nil, err
	}
	config := kubeconfig.Config{CA: authority.CertificatePEM(), User: i.user, Token: token}
	if err := i.addNodes(p, &config, servers); err != nil {
		return nil, err
	}
	return config.Encode()
}

// addNodes adds the addresses to write to config: those given, those that the node of the data
// directory knows, or else the default of --api-addr.
func (i *issue) addNodes(p *Process, config *kubeconfig.Config, servers []string) error {
	if len(servers) > 0 {
		config.Server = servers[0]
		for n, server := range servers[1:] {
			config.Others = append(config.Others, kubeconfig.Node{Name: strconv.Itoa(n + 2), Server: server})
		}
		return nil
	}
	admin, err := kubeconfig.Read(filepath.Join(i.dataDir, datadir.KubeconfigFile))
	if errors.Is(err, kubeconfig.ErrNoFile) || err == nil && !bytes.Equal(admin.CA, config.CA) { // that of another cluster
		config.Server = defaultServer
		_, err := fmt.Fprintf(p.Stderr, "quorate: no address of a node is known here, so %s is written: give --server URL\n", defaultServer)
		return err
	}
	if err != nil {
		return err
	}
	config.Server, config.ServerName, config.Others = admin.Server, admin.ServerName, admin.Others
	if len(admin.Others) > 0 { // the address of this machine's node for itself may be a loopback one
		config.Server, config.ServerName = admin.Others[0].Server, admin.Others[0].ServerName
	}
	return nil
}
