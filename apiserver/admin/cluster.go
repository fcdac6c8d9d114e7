package admin

import (
	"context"
	"io"
)

// Cluster runs the commands.
type Cluster interface {
	Members(ctx context.Context) ([]Member, error)
	// Leave removes this node from the cluster permanently and then stops it.
	Leave(ctx context.Context) error
	// TransferLeadership transfers leadership to the named voter, or to the best candidate if
	// name is empty.
	TransferLeadership(ctx context.Context, name string) error
	// Remove removes a dead member from the cluster.
	Remove(ctx context.Context, name string) error
	// Snapshot writes a snapshot on this node.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Checksums compares the states of all nodes after one write.
	Checksums(ctx context.Context) (Checksums, error)
	// Backup takes the current state, which includes every write acknowledged before the call, and
	// returns a function that writes it as a backup. The caller must call that function once.
	Backup(ctx context.Context) (write func(w io.Writer) error, err error)
}

// Refused is the error of a command that the cluster can't run, with a reason that the operator can
// act on.
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
	// Alarms are the active alarms of the node: no-space, disk-stalled, diverged.
	Alarms []Alarm `json:"alarms"`
}

// Alarm is a problem of a node.
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
	// Diverged are the nodes whose state differs from that of the majority.
	Diverged []string `json:"diverged"`
}

// Checksum is the checksum of one node's state, or the problem that prevented its computation.
type Checksum struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum,omitempty"`
	Problem  string `json:"problem,omitempty"`
}
