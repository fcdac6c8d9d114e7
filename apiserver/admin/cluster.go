package admin

import (
	"context"
	"io"
)

// Cluster is what the commands act on.
type Cluster interface {
	Members(ctx context.Context) ([]Member, error)
	// Leave takes this node out of the cluster for good and then stops it.
	Leave(ctx context.Context) error
	// TransferLeadership hands leadership to the named voter, or to the best one when the name is empty.
	TransferLeadership(ctx context.Context, name string) error
	// Remove takes a dead member out of the cluster.
	Remove(ctx context.Context, name string) error
	// Snapshot makes this node write a snapshot now.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Checksums compares the states of all nodes after one write.
	Checksums(ctx context.Context) (Checksums, error)
	// Backup takes the state as it is now, with every write acknowledged before, and returns what writes it out as a backup. The
	// caller must call that once.
	Backup(ctx context.Context) (write func(w io.Writer) error, err error)
}

// Refused is an answer of a Cluster that can't do what it was asked, for a reason that the operator can act on.
type Refused struct{ Reason string }

func (e *Refused) Error() string { return e.Reason }

// Member is one node as `quorate members` shows it.
type Member struct {
	Name         string `json:"name"`
	APIAddr      string `json:"apiAddr"`
	PeerAddr     string `json:"peerAddr"`
	Role         string `json:"role"` // leader, voter or nonvoter
	Alive        bool   `json:"alive"`
	AppliedIndex uint64 `json:"appliedIndex"`
	LastIndex    uint64 `json:"lastIndex"`
	// Alarms are what is wrong with it: no-space, disk-stalled, diverged.
	Alarms []Alarm `json:"alarms"`
}

// Alarm is something wrong with a node.
type Alarm struct {
	Name    string `json:"name"`
	Message string `json:"message"` // what is wrong, and what to do
}

// Members is the answer of GET /cluster/v1/members.
type Members struct {
	Members []Member `json:"members"`
}

// Snapshot is the answer of POST /cluster/v1/snapshot.
type Snapshot struct {
	ID    string `json:"id"`
	Index uint64 `json:"index"`
}

// Checksums is the answer of POST /cluster/v1/checksum.
type Checksums struct {
	Index uint64     `json:"index"` // the log entry after which the states are compared
	Nodes []Checksum `json:"nodes"`
	// Diverged are the nodes whose state is another than that of most.
	Diverged []string `json:"diverged"`
}

// Checksum is what the state of one node sums up to; empty where the problem says why it is not known.
type Checksum struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum,omitempty"`
	Problem  string `json:"problem,omitempty"`
}
