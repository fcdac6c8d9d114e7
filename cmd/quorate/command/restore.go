package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quorate/cmd/quorate/datadir"
	"quorate/cmd/quorate/settings"
	"quorate/progress"
	"quorate/raftstore"
	"quorate/raftstore/backup"
	"quorate/raftstore/offline"
)

// newCluster holds the flags of commands that create the data directory of a new cluster's first
// node.
type newCluster struct {
	dataDir string
	gap     uint64
}

func (f *newCluster) register(p *Process, flags *pflag.FlagSet) {
	flags.StringVar(&f.dataDir, "data-dir", defaultDataDir(p), "data directory of the node")
	flags.Uint64Var(&f.gap, "version-gap", 0,
		"how much all versions are raised: more than the number of writes that are lost (default: to one that follows from the clock)")
}

// gapAfter returns the gap that was requested, or one that is certainly large enough after index.
func (f *newCluster) gapAfter(index uint64) uint64 {
	if f.gap != 0 {
		return f.gap
	}
	return offline.DefaultGap(index, time.Now())
}

func newRestore(p *Process) *cobra.Command {
	var f newCluster
	var o output
	var name string
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Make the data directory of a new cluster's first node from a backup (- for standard input)", Args: arguments(1, 1),
		Long: "Make the data directory of a new cluster's first node from a backup, offline. Start that node with\n" +
			"quorate serve, without --join; others join it with empty data directories. Give it a copy of the old\n" +
			"cluster's key (--cluster-key-file) if the old tokens, certificates and kubeconfigs are to remain valid.\n" +
			"The new cluster has an id of its own: stop what remains of the old one. All versions are raised by\n" +
			"--version-gap, so that none goes back below one that a client has seen: watches and continue values\n" +
			"from before get 410, and clients list again.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := settings.CheckName(name); err != nil {
				return usageError{err}
			}
			if _, set := p.getenv(settings.Variable("data-dir")); !set && !cmd.Flags().Changed("data-dir") {
				return usageError{errors.New("give the data directory to make: --data-dir DIR")}
			}
			if err := o.check(); err != nil {
				return err
			}
			made, err := f.restore(p, args[0], name)
			if err != nil {
				return err
			}
			return o.print(p.Stdout, made, made.text)
		},
	}
	f.register(p, cmd.Flags())
	o.register(cmd)
	cmd.Flags().StringVar(&name, "name", hostName(), "name of the node (default: the host name)")
	return cmd
}

func (f *newCluster) restore(p *Process, file, name string) (*restored, error) {
	var err error
	if f.dataDir, err = absolutePath(f.dataDir); err != nil {
		return nil, err
	}
	header, cluster, err := readBackup(p, file)
	if err != nil {
		return nil, err
	}
	dir, err := datadir.Claim(f.dataDir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := dir.Vacant(raftstore.UnfinishedDir); err != nil {
		return nil, err
	}
	cluster.Name, cluster.PeerAddr, cluster.Gap = name, settings.DefaultPeerAddr, f.gapAfter(cluster.Root.Index())
	made, err := offline.Create(f.dataDir, cluster)
	if err != nil {
		return nil, fmt.Errorf("restore into %s: %w", f.dataDir, err)
	}
	if err := dir.BindNode(name); err != nil {
		return nil, err
	}
	r := &restored{
		Backup: savedOf(header),
		Start:  fmt.Sprintf("quorate serve --name %s --data-dir %s%s", name, f.dataDir, f.keyHint()),
	}
	r.Backup.Objects = uint64(made.Objects)
	r.Cluster = founded{ClusterID: made.ClusterID, FirstVersion: made.Index, VersionGap: cluster.Gap, DataDir: f.dataDir, Name: name}
	return r, nil
}

// keyHint returns the flag to add to the printed command, none if the directory holds the key.
func (f *newCluster) keyHint() string {
	if _, err := os.Stat(filepath.Join(f.dataDir, datadir.KeyFile)); err == nil {
		return ""
	}
	return " --cluster-key-file FILE (a copy of the old key, or leave it out for a new one)"
}

// readBackup reads and verifies a whole backup, before the command changes anything.
func readBackup(p *Process, file string) (backup.Header, offline.Cluster, error) {
	from, total := io.Reader(os.Stdin), int64(0)
	if file != standard {
		f, err := os.Open(file)
		if err != nil {
			return backup.Header{}, offline.Cluster{}, fmt.Errorf("the backup cannot be read: %w", err)
		}
		defer f.Close() // opened for reading
		info, err := f.Stat()
		if err != nil {
			return backup.Header{}, offline.Cluster{}, fmt.Errorf("the backup cannot be read: %w", err)
		}
		from, total = f, info.Size()
	}
	shown := progress.New(p.Stderr, "read "+file, total, progress.Bytes())
	defer shown.End()
	header, root, err := backup.Read(shown.Reader(from))
	if bad, ok := errors.AsType[*backup.Damaged](err); ok {
		return header, offline.Cluster{}, fmt.Errorf("%s %w; nothing was changed", file, bad)
	}
	if err != nil {
		return header, offline.Cluster{}, fmt.Errorf("%s: %w", file, err)
	}
	return header, offline.Cluster{Root: root}, nil
}
