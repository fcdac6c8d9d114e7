package voters

import (
	"context"
	"errors"
	"log/slog"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/cluster/roster"
	"quorate/raftstore"
)

// leading is a store that leads, and makes each change at once.
type leading struct {
	Store
	servers []raft.Server
	lost    error // what a removal comes to, though it takes effect
}

func (l *leading) IsLeader() bool                      { return true }
func (l *leading) CommitPending(context.Context) error { return nil }
func (l *leading) Servers() []raft.Server              { return l.servers }

func (l *leading) RemoveServer(name string) error {
	for i, s := range l.servers {
		if string(s.ID) == name {
			l.servers = append(l.servers[:i:i], l.servers[i+1:]...)
			break
		}
	}
	return l.lost
}

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
	for name, lost := range map[string]error{"leadership is lost": raftstore.ErrNotLeader, "the disk is full": nil} {
		t.Run(name, func(t *testing.T) {
			r, err := roster.Open(t.TempDir(), "n1", "id-n1")
			if err != nil {
				t.Fatal(err)
			}
			names := &full{Roster: r, full: lost == nil}
			if err := names.Bind("n3", roster.Binding{NodeID: "id-n3", Index: 1}); err != nil {
				t.Fatal(err)
			}
			store := &leading{servers: configOf("n1 n2 n3"), lost: lost}
			v, err := New(Config{
				Self: "n1", Store: store, Roster: names, Cluster: func() string { return "A" },
				Members: func() []Member { return membersOf("n1 n2 n3") }, Freed: func() error { return nil },
				Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Remove(t.Context(), "n3", true); err == nil {
				t.Fatal("a removal that was broken off succeeds")
			}
			names.full = false
			if err := v.Remove(t.Context(), "n3", false); !errors.Is(err, ErrUnknownMember) {
				t.Errorf("a member that left, and asks again, hears %v", err)
			}
			if err := v.Remove(t.Context(), "n3", true); err != nil {
				t.Errorf("asked for again: %v", err)
			}
			if err := r.Admit("n3", "id-n3"); !errors.Is(err, roster.ErrRemoved) {
				t.Errorf("the node that was removed is admitted: %v", err)
			}
			if err := v.Remove(t.Context(), "n9", true); !errors.Is(err, ErrUnknownMember) {
				t.Errorf("removing nobody: %v", err)
			}
		})
	}
}
