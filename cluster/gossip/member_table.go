package gossip

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// retryDeadFor is how long gossip retries the address of a dead node, and lists it as dead. How
// long a dead server keeps its place in the configuration is --dead-server-after.
const retryDeadFor = 72 * time.Hour

// Member is a node as gossip knows it.
type Member struct {
	Meta
	GossipAddr string
	Alive      bool
	Since      time.Time // when this node saw it become alive or dead
}

type entry struct {
	Member
	gossipName string
}

// memberTable maps the starts that memberlist knows to nodes. It holds all nodes but this one, by
// name.
type memberTable struct {
	mu      sync.Mutex
	entries map[string]entry // guarded by mu
	changed chan struct{}    // guarded by mu; closed and replaced at every change
}

func newMemberTable() *memberTable {
	return &memberTable{entries: map[string]entry{}, changed: make(chan struct{})}
}

// up records that a start of a node is alive. It ignores a start that is older than the known one,
// and a node that does not precede the one that has its name.
func (t *memberTable) up(gossipName, addr string, m Meta, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	have, ok := t.entries[m.Name]
	if ok && have.gossipName != gossipName && !replaces(m, have) {
		return
	}
	next := entry{Member{Meta: m, GossipAddr: addr, Alive: true, Since: now}, gossipName}
	if ok && have.Alive && have.NodeID == m.NodeID {
		next.Since = have.Since
	}
	t.entries[m.Name] = next
	t.wake()
}

func replaces(m Meta, have entry) bool {
	if m.NodeID == have.NodeID {
		return newer(m, have.Meta)
	}
	return !have.Alive || precedes(m, have.Meta)
}

// down records that a start of a node has ended.
func (t *memberTable) down(gossipName string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, e := range t.entries {
		if !e.Alive && now.Sub(e.Since) > retryDeadFor {
			delete(t.entries, name)
		}
		if e.gossipName == gossipName && e.Alive {
			e.Alive, e.Since = false, now
			t.entries[name] = e
		}
	}
	t.wake()
}

// touch wakes the watchers, since this node itself has changed.
func (t *memberTable) touch() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wake()
}

func (t *memberTable) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

func (t *memberTable) watch() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed
}

func (t *memberTable) alive(name string) (Meta, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.entries[name]
	return e.Meta, ok && e.Alive
}

// members returns the nodes known, by name.
func (t *memberTable) members() []Member {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]Member, 0, len(t.entries))
	for _, e := range t.entries {
		all = append(all, e.Member)
	}
	slices.SortFunc(all, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return all
}
