package voters

import (
	"errors"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/cluster/roster"
)

// leading is a library that leads, and makes each change at once.
type leading struct {
	Raft
	servers []raft.Server
	lost    error // what a removal comes to, though it takes effect
}

func (l *leading) State() raft.RaftState             { return raft.Leader }
func (l *leading) Barrier(time.Duration) raft.Future { return failed{} }
func (l *leading) GetConfiguration() raft.ConfigurationFuture {
	return configured{servers: l.servers}
}

func (l *leading) RemoveServer(id raft.ServerID, _ uint64, _ time.Duration) raft.IndexFuture {
	for i, s := range l.servers {
		if s.ID == id {
			l.servers = append(l.servers[:i:i], l.servers[i+1:]...)
			break
		}
	}
	return failed{l.lost}
}

type configured struct {
	failed
	servers []raft.Server
}

func (c configured) Configuration() raft.Configuration { return raft.Configuration{Servers: c.servers} }

// full is a roster whose disk is full while it says so.
type full struct {
	*roster.Roster
	full bool
}

func (f *full) Remove(nodeID string) error {
	if f.full {
		return syscall.ENOSPC
	}
	return f.Roster.Remove(nodeID)
}

// TestRemovalBrokenOff: a node that was taken out of the configuration, by a leader that got no further, is barred when the removal is
// asked for again. It would come back by itself otherwise, while nobody knew a member of its name.
func TestRemovalBrokenOff(t *testing.T) {
	for name, lost := range map[string]error{"leadership is lost": raft.ErrLeadershipLost, "the disk is full": nil} {
		t.Run(name, func(t *testing.T) {
			r, err := roster.Open(t.TempDir(), "n1", "id-n1")
			if err != nil {
				t.Fatal(err)
			}
			names := &full{Roster: r, full: lost == nil}
			if err := names.Bind("n3", roster.Binding{NodeID: "id-n3", Index: 1}); err != nil {
				t.Fatal(err)
			}
			library := &leading{servers: configOf("n1 n2 n3"), lost: lost}
			v, err := New(Config{
				Self: "n1", Raft: func() Raft { return library }, Roster: names, Cluster: func() string { return "A" },
				Members: func() []Member { return membersOf("n1 n2 n3") }, Freed: func() error { return nil },
				Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Remove("n3", true); err == nil {
				t.Fatal("a removal that was broken off succeeds")
			}
			names.full = false
			if err := v.Remove("n3", false); !errors.Is(err, ErrUnknownMember) {
				t.Errorf("a member that left, and asks again, hears %v", err)
			}
			if err := v.Remove("n3", true); err != nil {
				t.Errorf("asked for again: %v", err)
			}
			if err := r.Admit("n3", "id-n3"); !errors.Is(err, roster.ErrRemoved) {
				t.Errorf("the node that was removed is admitted: %v", err)
			}
			if err := v.Remove("n9", true); !errors.Is(err, ErrUnknownMember) {
				t.Errorf("removing nobody: %v", err)
			}
		})
	}
}
