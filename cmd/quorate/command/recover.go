package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"quorate/cluster/roster"
	"quorate/cmd/quorate/datadir"
	"quorate/progress"
	"quorate/raftstore/offline"
)

func newRecover(p *Process) *cobra.Command {
	var f newCluster
	var o output
	var accept bool
	cmd := &cobra.Command{
		Use: "recover", Short: "Continue from one survivor when the majority of a cluster is lost for good", Args: arguments(0, 0),
		Long: "Make a stopped member the only member of a new cluster, which continues from what that member has, when\n" +
			"the majority of its cluster is lost for good. Writes that only the lost members had are lost,\n" +
			"acknowledged ones included: choose the survivor with the highest last entry. Without\n" +
			"--accept-data-loss the command only shows what would be kept.\n" +
			"The new cluster has an id of its own, and the old members are barred from it: others join with empty\n" +
			"data directories. All versions are raised by --version-gap, so that none goes back below one that a\n" +
			"client has seen: watches and continue values from before get 410, and clients list again. What the\n" +
			"directory held is kept beside it.",
		RunE: func(*cobra.Command, []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return f.recover(p, &o, accept)
		},
	}
	o.register(cmd)
	f.register(p, cmd.Flags())
	cmd.Flags().BoolVar(&accept, "accept-data-loss", false, "proceed; writes that only the lost members had are lost")
	return cmd
}

// recover makes the survivor of the data directory a cluster if the operator accepts that, and
// prints the survivor in any case.
func (f *newCluster) recover(p *Process, o *output, accept bool) error {
	var err error
	if f.dataDir, err = absolutePath(f.dataDir); err != nil {
		return err
	}
	there, err := datadir.Peek(f.dataDir) // a wrong path creates nothing
	if err != nil {
		return err
	}
	if err := there.Close(); err != nil {
		return err
	}
	dir, err := datadir.Claim(f.dataDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	name, id, err := dir.Node()
	if err != nil {
		return err
	}
	if name == "" || id == "" {
		return fmt.Errorf("--data-dir %s is of no node that was ever ready: there is nothing to recover", f.dataDir)
	}
	shown := progress.New(p.Stderr, "read "+f.dataDir, 0, progress.Bytes())
	s, err := offline.Survey(f.dataDir, name, shown)
	shown.End()
	if err != nil {
		return fmt.Errorf("--data-dir %s: %w", f.dataDir, err)
	}
	result := &recovered{Survivor: survivorOf(s)}
	if !accept {
		return errors.Join(o.print(p.Stdout, result, result.text),
			errors.New("nothing was changed; to go on from this node alone, without what only the others have, give --accept-data-loss"))
	}
	gap := f.gapAfter(s.Index)
	made, aside, err := recoverAlone(s, f.dataDir, id, gap)
	if err != nil {
		return errors.Join(o.print(p.Stdout, result, result.text), fmt.Errorf("recover %s: %w", f.dataDir, err))
	}
	result.Cluster = &founded{ClusterID: made.ClusterID, FirstVersion: made.Index, VersionGap: gap, DataDir: f.dataDir, Name: name}
	result.Kept = aside
	return o.print(p.Stdout, result, result.text)
}

// recoverAlone makes the survivor a new cluster with versions raised by gap, and bars the nodes of
// the old cluster, which would merge their member list into the new one. It returns the new cluster
// and the path of a copy of the old state.
//
// Before anything else it records in the node's roster that the nodes must be barred. If the
// process ends before it has barred them, the next start of the node does (roster.Settle).
func recoverAlone(s *offline.Survivor, dataDir, id string, gap uint64) (made offline.Created, aside string, err error) {
	r, err := roster.Open(dataDir, s.Name, id)
	if err != nil {
		return made, "", err
	}
	if err := r.BarAllOnce(s.NewID); err != nil {
		return made, "", err
	}
	if made, aside, err = s.Recover(gap); err != nil {
		return made, "", err
	}
	return made, aside, r.Settle(s.NewID)
}
