package leadership

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machine is a state machine without state.
type machine struct{}

func (machine) Apply(*raft.Log) any                 { return nil }
func (machine) Snapshot() (raft.FSMSnapshot, error) { return nil, raft.ErrNothingNewToSnapshot }
func (machine) Restore(io.ReadCloser) error         { return nil }

// leader returns the Raft of a cluster of one node after its election.
func leader(t *testing.T) *raft.Raft {
	t.Helper()
	addr, trans := raft.NewInmemTransport("")
	c := raft.DefaultConfig()
	c.LocalID, c.Logger = "n0", hclog.NewNullLogger()
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = 50*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond
	store := raft.NewInmemStore()
	r, err := raft.NewRaft(c, machine{}, store, store, raft.NewInmemSnapshotStore(), trans)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Shutdown().Error(); err != nil {
			t.Error(err)
		}
	})
	members := raft.Configuration{Servers: []raft.Server{{ID: c.LocalID, Address: addr}}}
	if err := r.BootstrapCluster(members).Error(); err != nil {
		t.Fatal(err)
	}
	for r.State() != raft.Leader {
		select {
		case <-r.LeaderCh():
		case <-t.Context().Done():
			t.Fatal("the only node does not lead")
		}
	}
	return r
}

// A node that was elected again before it noticed the end of its first term ends the epoch of that
// term and begins one of the new term.
func TestLeaderOfTwoTermsInARow(t *testing.T) {
	m := newMetrics(prometheus.NewRegistry())
	r := leader(t)
	l := &Leadership{Tracker: NewTracker(nil), cfg: Config{Raft: r, Logger: slog.New(slog.DiscardHandler)}, metrics: m}
	before := NewEpoch(t.Context(), r.CurrentTerm()-1)
	l.set(before)
	now := l.updateEpoch(t.Context())
	if now == nil || now.Term() != r.CurrentTerm() {
		t.Fatalf("in term %d the epoch is %+v", r.CurrentTerm(), now)
	}
	if current, _ := l.Current(); current != now {
		t.Errorf("the current epoch is of term %d, want %d", current.Term(), now.Term())
	}
	select {
	case <-before.Done():
	default:
		t.Error("the epoch of the former term has not ended")
	}
	if again := l.updateEpoch(t.Context()); again != nil {
		t.Errorf("in the same term another epoch begins: %+v", again)
	}
}
