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

// fileName is the name of the file in the data directory.
const fileName = "bootstrap.json"

// ErrBound reports that this node has promised another attempt, or belongs to or joins a cluster.
var ErrBound = errors.New("this node is bound otherwise")

// Server is a node of the first configuration.
type Server struct {
	Name     string `json:"name"`
	NodeID   string `json:"nodeID"`
	PeerAddr string `json:"peerAddr"`
}

// Attempt is one attempt to form a cluster. A node takes part in at most one at a time.
type Attempt struct {
	ID       string   `json:"id"`
	Proposer string   `json:"proposer"` // node id
	Servers  []Server `json:"servers"`
}

func (p Attempt) has(nodeID string) bool {
	return slices.ContainsFunc(p.Servers, func(s Server) bool { return s.NodeID == nodeID })
}

// Response is a node's response to an attempt.
type Response struct {
	Promised bool
	Reason   string // why not
	NodeID   string // of the node that responds
	Holder   string // the proposer of the attempt that the node has promised instead, if that is the reason
}

// document is DATA/bootstrap.json. At most one of attempt and joining is set.
type document struct {
	Attempt *Attempt `json:"pledge,omitempty"`
	Joining string   `json:"joining,omitempty"` // the cluster that this node waits to be added to
	Cluster string   `json:"cluster,omitempty"` // the cluster that this node belongs to, or belonged to before it left
}

// Record holds what this node has promised. All methods are safe for concurrent use.
type Record struct {
	path     string
	self     string // node id
	hasState func() (bool, error)

	mu  sync.Mutex
	doc document // guarded by mu; the attempt is replaced, never changed
}

// Forgotten reports a node that belongs to a cluster but has lost its Raft state: its votes and the
// entries that it acknowledged. Raft would trust it, and lose writes.
type Forgotten struct{ Cluster string }

func (e *Forgotten) Error() string {
	return fmt.Sprintf("this node belongs to cluster %s, but what Raft kept of it is gone from the data directory: remove the node from the "+
		"cluster and start it with an empty data directory, or restore a backup", e.Cluster)
}

// Open loads the record in a data directory. HasState reports whether this node has Raft state
// already. It returns *Forgotten if the node did, and has lost its state.
func Open(dir, nodeID string, hasState func() (bool, error)) (*Record, error) {
	b := &Record{path: filepath.Join(dir, fileName), self: nodeID, hasState: hasState}
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

// Attempt returns the attempt that this node takes part in, nil if there is none.
func (b *Record) Attempt() *Attempt {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.doc.Attempt
}

// Joining returns the cluster that this node waits to be added to.
func (b *Record) Joining() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.doc.Joining
}

// Cluster returns the cluster that this node belongs to. After a restart it is known before Raft
// has replayed the log; on a node that left and returns, Raft would never replay it.
func (b *Record) Cluster() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.doc.Cluster
}

// Belong records that this node belongs to a cluster.
func (b *Record) Belong(cluster string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.doc.Cluster == cluster {
		return nil
	}
	next := b.doc
	next.Cluster = cluster
	return b.save(next)
}

// Promise promises another node's attempt, or refuses it. The proposer of an attempt confirms it
// until it abandons it, so a node that has promised can ask the proposer whether it did.
func (b *Record) Promise(p Attempt) (Response, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := b.doc.Attempt
	if held != nil && held.ID == p.ID {
		return Response{Promised: true, NodeID: b.self}, nil
	}
	member, err := b.hasState()
	if err != nil {
		return Response{}, err
	}
	refuse := func(reason, holder string) (Response, error) {
		return Response{Reason: reason, NodeID: b.self, Holder: holder}, nil
	}
	switch {
	case p.ID == "" || len(p.Servers) == 0:
		return refuse("the attempt is empty", "")
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
	if err := b.save(document{Attempt: &p}); err != nil {
		return Response{}, err
	}
	return Response{Promised: true, NodeID: b.self}, nil
}

// Propose begins an attempt of this node. It returns ErrBound if this node has promised another
// one, or has a cluster.
func (b *Record) Propose(servers []Server) (*Attempt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	member, err := b.hasState()
	if err != nil {
		return nil, err
	}
	if b.doc.Attempt != nil || b.doc.Joining != "" || member {
		return nil, ErrBound
	}
	p := &Attempt{ID: uuid.NewString(), Proposer: b.self, Servers: servers}
	return p, b.save(document{Attempt: p})
}

// Release ends an attempt: the proposer abandons it, or another server has learnt that the proposer
// did.
func (b *Record) Release(id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.doc.Attempt == nil || b.doc.Attempt.ID != id {
		return nil
	}
	return b.save(document{})
}

// Join records the only cluster that this node may be added to. It returns ErrBound if this node
// has promised an attempt, or has recorded another cluster.
func (b *Record) Join(cluster string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.doc.Joining == cluster {
		return nil
	}
	if b.doc.Attempt != nil || b.doc.Joining != "" {
		return ErrBound
	}
	return b.save(document{Joining: cluster})
}

// save is called with mu held, before the response: a response must never be newer than the disk.
func (b *Record) save(doc document) error {
	// gofail: var promiseBeforeSync struct{}
	if err := durable.Write(b.path, doc); err != nil {
		return fmt.Errorf("write the bootstrap record: %w", err)
	}
	// gofail: var promiseAfterSync struct{}
	b.doc = doc
	return nil
}
