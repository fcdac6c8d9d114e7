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

// Cluster is the nemesis's view of the cluster. Its methods must be safe for concurrent use and
// return within seconds.
type Cluster interface {
	// Members returns the members as a node sees them.
	Members(ctx context.Context, node nodes.Node) ([]client.Member, error)
	// Ready reports whether a node reports that it is ready.
	Ready(ctx context.Context, node nodes.Node) bool
}

// askTimeout limits one request, because a node that is paused or cut off does not respond.
const askTimeout = 3 * time.Second

// Observer implements Cluster with the API of the nodes. It has its own connections: one client for
// each address.
type Observer struct {
	credentials client.Credentials

	mu      sync.Mutex
	clients map[string]*client.Client // by API address; guarded by mu
}

// NewObserver returns an Observer with an administrator's credentials. The caller must call Close
// when it is no longer needed.
func NewObserver(credentials client.Credentials) *Observer {
	return &Observer{credentials: credentials, clients: map[string]*client.Client{}}
}

// Close closes all connections.
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

// errNoLeader means that no node reports a leader.
var errNoLeader = errors.New("no node names a leader that is alive")

// views asks all nodes concurrently for the members. Nodes that do not respond have no view.
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
				return // the node is down, is cut off, or knows no leader
			}
			mu.Lock()
			defer mu.Unlock()
			views[node.Name] = members
		})
	}
	group.Wait()
	return views
}

// Leader waits until some node reports a leader, and returns its name.
func (n *Nemesis) Leader(ctx context.Context) (leader string, err error) {
	err = await(ctx, "leader", "a leader", n.patience(), func(ctx context.Context) (err error) {
		leader, err = n.leaderOnce(ctx)
		return err
	})
	return leader, err
}

// leaderOnce returns the leader that most nodes report, other than besides. A leader that is cut
// off may still report itself.
func (n *Nemesis) leaderOnce(ctx context.Context, besides ...string) (string, error) {
	votes := map[string]int{}
	for _, members := range n.views(ctx) {
		for _, m := range members {
			if m.Role == "leader" && m.IsAlive() && !slices.Contains(besides, m.Name) {
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

// LastIndex returns the index of the newest log entry on any node, as far as the leader knows, or 0
// if no node responds.
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

// leaderView returns the members as the leader sees them.
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
	return nil, errNoLeader // it has left the fleet since
}
