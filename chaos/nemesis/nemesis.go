package nemesis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

// Fault is a kind of harm.
type Fault string

// The faults.
const (
	KillLeader   Fault = "kill-leader"
	KillFollower Fault = "kill-follower"
	KillAll      Fault = "kill-all"
)

// Faults are all of them.
func Faults() []Fault { return []Fault{KillLeader, KillFollower, KillAll} }

// healTimeout bounds how long a cluster may take to be whole again after a fault.
const healTimeout = 2 * time.Minute

// Nemesis does the harm.
type Nemesis struct {
	Fleet   nodes.Fleet
	Clients map[string]*client.Client
	Rand    *rand.Rand
	Log     *slog.Logger
	// Writing reports how many writes have been acknowledged so far; a fault strikes while writes go on, and the next one
	// only after they go on again.
	Writing func() int
	// Calm is how many writes are acknowledged between two faults.
	Calm int
}

// Inflict does one fault and returns when every node is ready again and writes go on.
func (n *Nemesis) Inflict(ctx context.Context, fault Fault) error {
	ctx, cancel := context.WithTimeout(ctx, healTimeout)
	defer cancel()
	victims, err := n.victims(ctx, fault)
	if err != nil {
		return fmt.Errorf("%s: %w", fault, err)
	}
	n.Log.Info("inflict", "fault", fault, "nodes", victims)
	for _, name := range victims {
		if err := n.Fleet.Kill(ctx, name); err != nil {
			return fmt.Errorf("%s: kill %s: %w", fault, name, err)
		}
	}
	// A minority stays down until the rest has gone on without it: that is the promise.
	if len(victims) < len(n.Fleet.Nodes()) {
		if err := n.AwaitWrites(ctx); err != nil {
			return fmt.Errorf("%s: writes do not go on without %v: %w", fault, victims, err)
		}
	}
	for _, name := range victims {
		if err := n.Fleet.Start(ctx, name); err != nil {
			return fmt.Errorf("%s: start %s: %w", fault, name, err)
		}
	}
	if err := nodes.AwaitReady(ctx, n.Clients, victims...); err != nil {
		return fmt.Errorf("%s: %w", fault, err)
	}
	return n.AwaitWrites(ctx)
}

// AwaitWrites waits until Calm more writes have been acknowledged.
func (n *Nemesis) AwaitWrites(ctx context.Context) error {
	before := n.Writing()
	return nodes.Await(ctx, func() bool { return n.Writing() >= before+n.Calm })
}

func (n *Nemesis) victims(ctx context.Context, fault Fault) ([]string, error) {
	if fault == KillAll {
		var all []string
		for _, node := range n.Fleet.Nodes() {
			all = append(all, node.Name)
		}
		return all, nil
	}
	leader, err := n.Leader(ctx)
	if err != nil {
		return nil, err
	}
	if fault == KillLeader {
		return []string{leader}, nil
	}
	var followers []string
	for _, node := range n.Fleet.Nodes() {
		if node.Name != leader {
			followers = append(followers, node.Name)
		}
	}
	if len(followers) == 0 {
		return nil, errors.New("there is no follower")
	}
	return []string{followers[n.Rand.IntN(len(followers))]}, nil
}

// Leader asks the nodes until one names a leader.
func (n *Nemesis) Leader(ctx context.Context) (leader string, err error) {
	err = nodes.Await(ctx, func() bool {
		for _, node := range n.Fleet.Nodes() {
			members, err := n.Clients[node.Name].Members(ctx)
			if err != nil {
				continue // that node is down or has no leader: another may know
			}
			for _, member := range members {
				if member.Role == "leader" && member.Alive {
					leader = member.Name
					return true
				}
			}
		}
		return false
	})
	return leader, err
}
