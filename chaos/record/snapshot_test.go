package record

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/fsm"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/state"
)

// TestSnapshotOverConflict provokes hashicorp/raft#697: a follower has uncommitted entries beyond
// the index of a snapshot that it installs. The library keeps them, and refuses every append after
// the snapshot because the preceding entry has another term, even after a restart. The leader then
// sends the snapshot again and again.
//
// Quorate's log removes such entries, but the library still assumes the former last index. So the
// store refuses the snapshot and ends with an error, and its next start begins with that snapshot.
func TestSnapshotOverConflict(t *testing.T) {
	t.Run("stock", func(t *testing.T) {
		n := newNetwork(t, true)
		trans := n.transport("a")
		leader := n.puppet("l", n.transport("l"))
		a := raft.Server{ID: "a", Address: trans.LocalAddr()}
		log, snapshots := raft.NewInmemStore(), raft.NewInmemSnapshotStore()
		r, err := raft.NewRaft(config("a"), &counter{}, log, log, snapshots, trans)
		if err != nil {
			t.Fatal(err)
		}
		old := entries(t, 1, 25)
		if resp := leader.append(t, a, raft.AppendEntriesRequest{Term: 1, Entries: old, LeaderCommitIndex: 5}); !resp.Success {
			t.Fatal("the first entries are refused")
		}
		if err := install(leader, a, []byte("state")); err != nil {
			t.Fatal(err)
		}
		if leader.append(t, a, next(t)).Success {
			t.Error("not provoked: the append after the snapshot was accepted")
		}
		r.Shutdown().Error()

		again := n.transport("a")
		r, err = raft.NewRaft(config("a"), &counter{}, log, log, snapshots, again)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { r.Shutdown().Error() }()
		a.Address = again.LocalAddr()
		if leader.append(t, a, next(t)).Success {
			t.Error("not provoked after a restart: the append after the snapshot was accepted")
		}
	})

	t.Run("quorate", func(t *testing.T) {
		n := newNetwork(t, false)
		leader := n.storePuppet("l")
		dir := t.TempDir()
		a := n.replica(dir, 5)
		if err := a.Bootstrap(servers(a.server, leader)); err != nil {
			t.Fatal(err)
		}
		resp := leader.append(t, a.server, raft.AppendEntriesRequest{
			Term: 1, PrevLogEntry: 1, PrevLogTerm: 1, Entries: entries(t, 2, 25), LeaderCommitIndex: 5,
		})
		if !resp.Success {
			t.Fatal("the first entries are refused")
		}
		if err := install(leader.puppet, a.server, emptyState(t, 20)); err == nil {
			t.Error("the snapshot was acknowledged over a log that contradicts it")
		}
		select {
		case err := <-a.ended:
			if err == nil || !strings.Contains(err.Error(), "raft#697") {
				t.Errorf("ended with %v", err)
			}
			a.ended <- nil
		case <-time.After(patience):
			t.Fatal("the node goes on")
		}
		a.stop()

		a = n.replica(dir, 5)
		if !leader.append(t, a.server, next(t)).Success {
			t.Error("after a restart the append after the snapshot was refused")
		}
		if root, err := a.View(bounded(t, patience), raftstore.AtLeast(21)); err != nil || root.Len() != 1 {
			t.Errorf("after a restart: %+v, %v", root, err)
		}
	})
}

// entries are those of an old leader, of term 1.
func entries(t *testing.T, from, to uint64) []*raft.Log {
	t.Helper()
	var list []*raft.Log
	for index := from; index <= to; index++ {
		_, entry := createEntry(t, fmt.Sprintf("old%d", index), index)
		list = append(list, entry)
	}
	return list
}

// next is the append after the snapshot.
func next(t *testing.T) raft.AppendEntriesRequest {
	t.Helper()
	_, entry := createEntry(t, "new", 21)
	entry.Term = 2
	return raft.AppendEntriesRequest{
		Term: 2, PrevLogEntry: 20, PrevLogTerm: 2, Entries: []*raft.Log{entry}, LeaderCommitIndex: 21,
	}
}

// install sends the snapshot of a new leader, which has other entries from 6 on, and of those up to
// 20 only this.
func install(leader *puppet, a raft.Server, content []byte) error {
	members := raft.Configuration{Servers: []raft.Server{a, {ID: leader.id, Address: leader.LocalAddr()}}}
	req := &raft.InstallSnapshotRequest{
		RPCHeader: leader.header(), SnapshotVersion: 1, Term: 2, Leader: []byte(leader.LocalAddr()),
		LastLogIndex: 20, LastLogTerm: 2, Configuration: raft.EncodeConfiguration(members), ConfigurationIndex: 1,
		Size: int64(len(content)),
	}
	var resp raft.InstallSnapshotResponse
	if err := leader.InstallSnapshot(a.ID, a.Address, req, &resp, bytes.NewReader(content)); err != nil {
		return err
	}
	if !resp.Success {
		return fmt.Errorf("not installed: %+v", resp)
	}
	return nil
}

func emptyState(t *testing.T, index uint64) []byte {
	t.Helper()
	tree := state.NewTree()
	tree.Advance(index)
	var content bytes.Buffer
	w := snapshot.NewWriter(&content)
	if err := fsm.WriteSnapshot(w, tree.Publish()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}
