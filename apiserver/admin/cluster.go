package admin

import (
	"context"
	"io"
)

// Cluster executes the operator's commands.
type Cluster interface {
	Members(ctx context.Context) ([]Member, error)
	// Leave removes this node from the cluster permanently and then stops it.
	Leave(ctx context.Context) error
	// TransferLeadership transfers leadership to the named voter, or to the best candidate if
	// name is empty, and returns the new leader.
	TransferLeadership(ctx context.Context, name string) (leader string, err error)
	// Remove removes a dead member from the cluster. It refuses one that responds, unless force is
	// true.
	Remove(ctx context.Context, name string, force bool) error
	// Snapshot writes a snapshot on this node.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Checksums compares the states of all nodes after one write.
	Checksums(ctx context.Context) (Checksums, error)
	// Backup captures the current state, including all writes acknowledged before the call, and
	// returns a function that writes it as a backup. If err is nil, the caller must call the
	// function exactly once.
	Backup(ctx context.Context) (write func(w io.Writer) error, err error)
}

// Refused is the error of a command that the cluster cannot execute. Reason tells the operator what
// to do.
type Refused struct{ Reason string }

func (e *Refused) Error() string { return e.Reason }

// The roles of a member.
const (
	RoleLeader   = "leader"
	RoleVoter    = "voter"
	RoleNonvoter = "nonvoter"
)

// Member is one node in the response of GET /cluster/v1/members. Values that are unknown, as all of
// a node that does not respond, are null.
type Member struct {
	Name     string `json:"name"`
	APIAddr  string `json:"apiAddr"`
	PeerAddr string `json:"peerAddr"`
	Role     string `json:"role"` // leader, voter or nonvoter, as the responding node knows
	// Alive is true if the node responded just now, and false if gossip has found it dead, after
	// which another node may take its name.
	Alive *bool `json:"alive"`

	AppliedIndex *uint64 `json:"appliedIndex"`
	LastIndex    *uint64 `json:"lastIndex"`
	// The oldest entry of the node's log, the last that it knows to be committed, and that of its
	// newest snapshot. They are null, too, if there is none.
	FirstIndex    *uint64 `json:"firstIndex"`
	CommitIndex   *uint64 `json:"commitIndex"`
	SnapshotIndex *uint64 `json:"snapshotIndex"`
	// Lag is how many of the leader's log entries the node has not applied.
	Lag  *uint64 `json:"lag"`
	Term *uint64 `json:"term"`
	// LastContactSeconds is the time since the node's last contact with the leader.
	LastContactSeconds *float64 `json:"lastContactSeconds"`
	Version            *string  `json:"version"`
	DiskFreeBytes      *int64   `json:"diskFreeBytes"` // on the disk of the data directory
	// Alarms are the active alarms of the node: no-space, disk-stalled, diverged.
	Alarms []Alarm `json:"alarms"`
}

// Alarm is an active alarm of a node.
type Alarm struct {
	Name    string `json:"name"`
	Message string `json:"message"` // what is wrong
	// Advice is what the operator should do; "" for an alarm that this build does not know.
	Advice string `json:"advice"`
}

// Members is the response of GET /cluster/v1/members.
type Members struct {
	Members []Member `json:"members"`
}

// Snapshot is the response of POST /cluster/v1/snapshot.
type Snapshot struct {
	ID    string `json:"id"`
	Index uint64 `json:"index"`
}

// Checksums is the response of POST /cluster/v1/checksum.
type Checksums struct {
	Index uint64     `json:"index"` // log index at which the states are compared
	Nodes []Checksum `json:"nodes"`
	// Diverged lists the nodes whose state differs from that of the majority.
	Diverged []string `json:"diverged"`
}

// Checksum is the checksum of one node's state, or the reason why there is none.
type Checksum struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum,omitempty"`
	Problem  string `json:"problem,omitempty"`
}
