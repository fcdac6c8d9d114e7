package voters

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/cluster/roster"
	"quorate/raftstore"
	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

// leading is a store that leads, and makes each change at once.
type leading struct {
	Store
	servers []raft.Server
	lost    error       // what a removal comes to, though it takes effect
	keeps   bool        // a removal has no effect
	pending error       // what waiting for the configuration comes to
	tree    *state.Tree // what it has applied; nil is nothing
	refuse  error       // the error of each write
	calls   []string    // the changes made, in order
}

func (l *leading) IsLeader() bool                      { return true }
func (l *leading) CommitPending(context.Context) error { return l.pending }
func (l *leading) Servers() []raft.Server              { return l.servers }
func (l *leading) LastIndex() uint64                   { return 1 }

func (l *leading) View(context.Context, raftstore.Read) (*state.Root, error) {
	return l.applied().Publish(), nil
}

func (l *leading) applied() *state.Tree {
	if l.tree == nil {
		l.tree = state.NewTree()
	}
	return l.tree
}

func (l *leading) Create(_ context.Context, c raftstore.Create) (*state.Object, error) {
	return l.write(c.Encode())
}

func (l *leading) Update(_ context.Context, u raftstore.Update) (*state.Object, error) {
	return l.write(u.Encode())
}

// write applies an entry as the state machine does.
func (l *leading) write(entry []byte, err error) (*state.Object, error) {
	if err = errors.Join(err, l.refuse); err != nil {
		return nil, err
	}
	l.calls = append(l.calls, "write")
	result, _, err := fsm.Apply(l.applied(), l.applied().Index()+1, entry)
	if err = errors.Join(err, result.Err); err != nil {
		return nil, err
	}
	return l.tree.Get(departuresKey), nil
}

func (l *leading) AddNonvoter(name, address string) error {
	for i := range l.servers {
		if string(l.servers[i].ID) == name {
			l.servers[i].Address = raft.ServerAddress(address)
			return nil
		}
	}
	s := raft.Server{Suffrage: raft.Nonvoter, ID: raft.ServerID(name), Address: raft.ServerAddress(address)}
	l.servers = append(slices.Clone(l.servers), s)
	return nil
}

func (l *leading) AddVoter(name, address string) error { return l.AddNonvoter(name, address) }

func (l *leading) RemoveServer(name string) error {
	l.calls = append(l.calls, "remove "+name)
	if l.keeps {
		return l.lost
	}
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

// votersOf makes the voters of a node that hears of n1, n2 and n3 by gossip.
func votersOf(store Store, names Roster) *Voters {
	return New(Config{
		Self: "n1", Store: store, Roster: names, Cluster: func() string { return "A" },
		Members: func() []Member { return membersOf("n1 n2 n3") }, Freed: func() error { return nil },
		MinVoters: func() int { return 1 },
		Logger:    slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
}

// TestRemovalBrokenOff checks that a node that a leader removed from the configuration, without
// barring it, is barred when the removal is requested again. Otherwise a leader would add the node
// again while no other member has its name.
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
			v := votersOf(store, names)
			if err := v.Remove(t.Context(), "n3"); err == nil {
				t.Fatal("a removal that was broken off succeeds")
			}
			names.full = false
			if err := v.Remove(t.Context(), "n3"); err != nil {
				t.Errorf("asked for again: %v", err)
			}
			if err := r.Admit("n3", "id-n3"); !errors.Is(err, roster.ErrRemoved) {
				t.Errorf("the node that was removed is admitted: %v", err)
			}
			if err := v.Remove(t.Context(), "n9"); !errors.Is(err, ErrUnknownMember) {
				t.Errorf("removing nobody: %v", err)
			}
		})
	}
}

// TestRepeatedRemovalWaits: a name that is not in the configuration may be in the committed one
// still. The removal has not succeeded, and its node is not barred, until that is known.
func TestRepeatedRemovalWaits(t *testing.T) {
	r, err := roster.Open(t.TempDir(), "n1", "id-n1")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Bind("n3", roster.Binding{NodeID: "id-n3", Index: 1}); err != nil {
		t.Fatal(err)
	}
	store := &leading{servers: configOf("n1 n2"), pending: raftstore.ErrNotLeader}
	v := votersOf(store, r)
	if err := v.Remove(t.Context(), "n3"); !errors.Is(err, ErrNotLeader) {
		t.Errorf("a removal that may not be committed: %v", err)
	}
	if err := r.Admit("n3", "id-n3"); errors.Is(err, roster.ErrRemoved) {
		t.Error("the node is barred before its removal is committed")
	}
	store.pending = nil
	if err := v.Remove(t.Context(), "n3"); err != nil {
		t.Errorf("a removal that is committed: %v", err)
	}
	if err := r.Admit("n3", "id-n3"); !errors.Is(err, roster.ErrRemoved) {
		t.Errorf("the node that was removed is admitted: %v", err)
	}
}
