package bootstrap

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/google/uuid"

	"quorate/cluster/internal/durable"
)

// fileName stands in the data directory.
const fileName = "bootstrap.json"

// ErrBound reports that this node is bound otherwise: to another bootstrap, or to a cluster.
var ErrBound = errors.New("this node is bound otherwise")

// Server is a node of the first configuration.
type Server struct {
	Name     string `json:"name"`
	NodeID   string `json:"nodeID"`
	PeerAddr string `json:"peerAddr"`
}

// Pledge is one attempt to form a cluster. A node is party to at most one at a time.
type Pledge struct {
	ID       string   `json:"id"`
	Proposer string   `json:"proposer"` // node id
	Servers  []Server `json:"servers"`
}

func (p Pledge) has(nodeID string) bool {
	return slices.ContainsFunc(p.Servers, func(s Server) bool { return s.NodeID == nodeID })
}

// Answer is what a node says to a pledge.
type Answer struct {
	Promised bool
	Reason   string // why not
	NodeID   string // who answers
	Holder   string // the proposer that it is bound to, when that is why not
}

// document is DATA/bootstrap.json. At most one of pledge and joining is set.
type document struct {
	Pledge  *Pledge `json:"pledge,omitempty"`
	Joining string  `json:"joining,omitempty"` // the cluster that this node waits to be added to
	Cluster string  `json:"cluster,omitempty"` // the cluster that this node belongs to, or belonged to before it left
}

// Book is what this node has promised.
type Book struct {
	path     string
	self     string // node id
	hasState func() (bool, error)

	mu  sync.Mutex
	doc document // guarded by mu; the pledge is replaced, never changed
}

// Forgotten reports a node of a cluster without what Raft kept: the votes that it gave, and the
// entries that it acknowledged. Raft would trust it, and lose writes.
type Forgotten struct{ Cluster string }

func (e *Forgotten) Error() string {
	return fmt.Sprintf("this node belongs to cluster %s, but what Raft kept of it is gone from the data directory: remove the node from the "+
		"cluster and start it with an empty data directory, or restore a backup", e.Cluster)
}

// Open loads the book in a data directory. HasState tells whether this node takes part in a cluster
// already. It returns *Forgotten where it did, and has lost its state.
func Open(dir, nodeID string, hasState func() (bool, error)) (*Book, error) {
	b := &Book{path: filepath.Join(dir, fileName), self: nodeID, hasState: hasState}
	if _, err := durable.Read(b.path, &b.doc); err != nil {
		return nil, fmt.Errorf("read the bootstrap record: %w", err)
	}
	if b.doc.Cluster == "" {
		return b, nil
	}
	member, err := hasState()
	if err != nil {
		return nil, err
	}
	if !member {
		return nil, &Forgotten{Cluster: b.doc.Cluster}
	}
	return b, nil
}

// Pledge is the one held; nil when there is none.
func (b *Book) Pledge() *Pledge {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.doc.Pledge
}

// Joining is the cluster that this node waits to be added to.
func (b *Book) Joining() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.doc.Joining
}

// Cluster is the cluster that this node belongs to. After a restart it is known before Raft has
// replayed it, and on a node that left, and comes back, Raft never would.
func (b *Book) Cluster() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.doc.Cluster
}

// Belong records the cluster that this node has become part of.
func (b *Book) Belong(cluster string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.doc.Cluster == cluster {
		return nil
	}
	next := b.doc
	next.Cluster = cluster
	return b.save(next)
}

// Promise answers another node's pledge. To its own proposer a pledge is confirmed for as long as
// it stands, so a node that promised can learn from the proposer that it was abandoned.
func (b *Book) Promise(p Pledge) (Answer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := b.doc.Pledge
	if held != nil && held.ID == p.ID {
		return Answer{Promised: true, NodeID: b.self}, nil
	}
	member, err := b.hasState()
	if err != nil {
		return Answer{}, err
	}
	refuse := func(reason, holder string) (Answer, error) {
		return Answer{Reason: reason, NodeID: b.self, Holder: holder}, nil
	}
	switch {
	case p.ID == "" || len(p.Servers) == 0:
		return refuse("the pledge is empty", "")
	case p.Proposer == b.self:
		return refuse("this node does not propose it any more", "")
	case !p.has(b.self):
		return refuse("this node is not among its servers", "")
	case member:
		return refuse("this node belongs to a cluster", "")
	case b.doc.Joining != "":
		return refuse("this node waits to be added to cluster "+b.doc.Joining, "")
	case held != nil:
		return refuse("this node has promised bootstrap "+held.ID+" to node "+held.Proposer, held.Proposer)
	}
	if err := b.save(document{Pledge: &p}); err != nil {
		return Answer{}, err
	}
	return Answer{Promised: true, NodeID: b.self}, nil
}

// Propose begins a pledge of this node's own; ErrBound when another binds it.
func (b *Book) Propose(servers []Server) (*Pledge, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	member, err := b.hasState()
	if err != nil {
		return nil, err
	}
	if b.doc.Pledge != nil || b.doc.Joining != "" || member {
		return nil, ErrBound
	}
	p := &Pledge{ID: uuid.NewString(), Proposer: b.self, Servers: servers}
	return p, b.save(document{Pledge: p})
}

// Release ends a pledge: the proposer abandons it, or a party has learnt that the proposer did.
func (b *Book) Release(id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.doc.Pledge == nil || b.doc.Pledge.ID != id {
		return nil
	}
	return b.save(document{})
}

// Join settles on the one cluster that this node is to be added to; ErrBound when a pledge or
// another cluster binds it.
func (b *Book) Join(cluster string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.doc.Joining == cluster {
		return nil
	}
	if b.doc.Pledge != nil || b.doc.Joining != "" {
		return ErrBound
	}
	return b.save(document{Joining: cluster})
}

// save is called with mu held: what is on the disk must never be behind what was answered.
func (b *Book) save(doc document) error {
	// gofail: var pledgeBeforeSync struct{}
	if err := durable.Write(b.path, doc); err != nil {
		return fmt.Errorf("write the bootstrap record: %w", err)
	}
	// gofail: var pledgeAfterSync struct{}
	b.doc = doc
	return nil
}
