package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"quorate/cluster/roster"
	"quorate/cmd/quorate/datadir"
	"quorate/raftstore/offline"
)

func newRecover(p *Process) *cobra.Command {
	var f founding
	var accept bool
	cmd := &cobra.Command{
		Use: "recover", Short: "Go on from one survivor when the majority of a cluster is gone for good", Args: arguments(0, 0),
		Long: "Make a member that does not run the only member of a new cluster, which goes on from what that member has, when the majority of its\n" +
			"cluster is gone for good. What the lost members had and this one has not, acknowledged writes included, is lost: choose the\n" +
			"survivor with the highest last entry. Without --accept-data-loss it only tells what would be kept.\n" +
			"It is a new cluster with an id of its own, and the old members are barred from it: others join with empty data directories. All\n" +
			"versions are raised by --version-gap, so that none goes back below one that a client has seen: watches and continue tokens of\n" +
			"before get 410, and clients list anew. What the directory held is kept beside it.",
		RunE: func(*cobra.Command, []string) error { return f.recover(p, accept) },
	}
	f.register(p, cmd.Flags())
	cmd.Flags().BoolVar(&accept, "accept-data-loss", false, "do it; what only the lost members had is lost")
	return cmd
}

func (f *founding) recover(p *Process, accept bool) error {
	there, err := datadir.Peek(f.dataDir) // nothing is made of a wrong path
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
	s, err := offline.Survey(f.dataDir, name)
	if err != nil {
		return fmt.Errorf("--data-dir %s: %w", f.dataDir, err)
	}
	f.tellSurvivor(p, s)
	if !accept {
		return errors.New("nothing was changed; to go on from this node alone, without what only the others have, give --accept-data-loss")
	}
	gap := f.gapAfter(s.Index)
	made, aside, err := s.Recover(gap)
	if err != nil {
		return fmt.Errorf("recover %s: %w", f.dataDir, err)
	}
	if err := barOthers(f.dataDir, name, id); err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "new cluster %s of %s alone, whose versions begin with %d (raised by %d)\n", made.ClusterID, name, made.Index, gap)
	fmt.Fprintf(p.Stdout, "what was there before is kept in %s: remove it when all is well\n", aside)
	_, err = fmt.Fprintf(p.Stdout, "start %s as before; others join it with empty data directories\n", name)
	return err
}

// tellSurvivor says what is kept.
func (f *founding) tellSurvivor(p *Process, s *offline.Survivor) {
	fmt.Fprintf(p.Stdout, "%s of cluster %s: last entry %d, term %d, %d objects\n", s.Name, s.ClusterID, s.Index, s.Term, s.Objects)
	var dropped []string
	for _, m := range s.Dropped {
		dropped = append(dropped, m.Name)
	}
	if len(dropped) > 0 {
		fmt.Fprintf(p.Stdout, "members that are dropped: %s\n", strings.Join(dropped, ", "))
	}
	if s.Damage != nil {
		fmt.Fprintf(p.Stdout, "damage, what comes after that entry is lost: %s\n", strings.ReplaceAll(s.Damage.Error(), "\n", "; "))
	}
}

// barOthers keeps the nodes of before from this one: should they come back after all, they would bring the old cluster back with them.
func barOthers(dataDir, name, id string) error {
	r, err := roster.Open(dataDir, name, id)
	if err != nil {
		return err
	}
	for _, b := range r.Record().Bindings {
		if b.NodeID == "" || b.NodeID == id {
			continue
		}
		if err := r.Remove(b.NodeID); err != nil {
			return err
		}
	}
	return nil
}
