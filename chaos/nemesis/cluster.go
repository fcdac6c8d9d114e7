package nemesis

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

// Cluster is what a nemesis asks the cluster itself. Its methods may be called at any time by many,
// and answer within seconds.
type Cluster interface {
	// Members are the members as the node sees them.
	Members(ctx context.Context, node nodes.Node) ([]client.Member, error)
	// Ready reports whether the node calls itself ready.
	Ready(ctx context.Context, node nodes.Node) bool
}

// askTimeout bounds one question: a node that is paused or cut off doesn't answer at all.
const askTimeout = 3 * time.Second

// Observer is a Cluster that is asked over its API. It has connections of its own, one client for
// each address that it was asked for.
type Observer struct {
	credentials client.Credentials

	mu      sync.Mutex
	clients map[string]*client.Client // by API; guarded by mu
}

// NewObserver returns an Observer with an administrator's credentials. Close is to be called when
// it isn't needed any more.
func NewObserver(credentials client.Credentials) *Observer {
	return &Observer{credentials: credentials, clients: map[string]*client.Client{}}
}

// Close drops all connections.
func (o *Observer) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.clients {
		c.Close()
	}
}

// Members implements Cluster.
func (o *Observer) Members(ctx context.Context, node nodes.Node) ([]client.Member, error) {
	c, err := o.client(node)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return c.Members(ctx)
}

// Ready implements Cluster.
func (o *Observer) Ready(ctx context.Context, node nodes.Node) bool {
	c, err := o.client(node)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return c.Ready(ctx)
}

func (o *Observer) client(node nodes.Node) (*client.Client, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.clients[node.API]; c != nil {
		return c, nil
	}
	c, err := client.New(node.API, o.credentials)
	if err == nil {
		o.clients[node.API] = c
	}
	return c, err
}

// errNoLeader says that no node named a leader.
var errNoLeader = errors.New("no node names a leader that is alive")

// views asks all nodes at once who the members are. A node that doesn't answer has no view.
func (n *Nemesis) views(ctx context.Context) map[string][]client.Member {
	var (
		mu    sync.Mutex
		group sync.WaitGroup
		views = map[string][]client.Member{}
	)
	for _, node := range n.Fleet.Nodes() {
		group.Go(func() {
			members, err := n.Cluster.Members(ctx, node)
			if err != nil {
				return // it is down, cut off, or has no leader
			}
			mu.Lock()
			defer mu.Unlock()
			views[node.Name] = members
		})
	}
	group.Wait()
	return views
}

// Leader waits until some node names a leader, and returns its name.
func (n *Nemesis) Leader(ctx context.Context) (leader string, err error) {
	err = await(ctx, "leader", "a leader", n.patience(), func(ctx context.Context) (err error) {
		leader, err = n.leaderOnce(ctx)
		return err
	})
	return leader, err
}

// leaderOnce is the leader that most nodes name, besides those given. A leader that is cut off may
// still name itself.
func (n *Nemesis) leaderOnce(ctx context.Context, besides ...string) (string, error) {
	votes := map[string]int{}
	for _, members := range n.views(ctx) {
		for _, m := range members {
			if m.Role == "leader" && m.Alive && !slices.Contains(besides, m.Name) {
				votes[m.Name]++
			}
		}
	}
	leader := ""
	for _, name := range slices.Sorted(maps.Keys(votes)) {
		if leader == "" || votes[name] > votes[leader] {
			leader = name
		}
	}
	if leader == "" {
		return "", errNoLeader
	}
	return leader, nil
}

// LastIndex is the index of the newest log entry that any node has, as far as the leader knows; 0
// when nobody says.
func (n *Nemesis) LastIndex(ctx context.Context) (last uint64) {
	members, err := n.leaderView(ctx)
	if err != nil {
		return 0
	}
	for _, m := range members {
		last = max(last, m.LastIndex)
	}
	return last
}

// leaderView are the members as the leader sees them.
func (n *Nemesis) leaderView(ctx context.Context) ([]client.Member, error) {
	leader, err := n.leaderOnce(ctx)
	if err != nil {
		return nil, err
	}
	for _, node := range n.Fleet.Nodes() {
		if node.Name == leader {
			return n.Cluster.Members(ctx, node)
		}
	}
	return nil, errNoLeader // it has left the fleet meanwhile
}
