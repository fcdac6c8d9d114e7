package record

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// TestCommitOfOverruledEntry provokes a fault of the library that was found here by killing nodes
// after an entry was in their log and before any other node had it. A new leader sends a commit
// index beyond the entries of the request. The follower commits its whole log up to that index,
// including entries after the last one compared, which the new leader has overruled. Its state then
// contains a write that was never committed.
func TestCommitOfOverruledEntry(t *testing.T) {
	kinds(t, func(t *testing.T, n *network) {
		trans := n.transport("a")
		leader := n.puppet("l", n.transport("l"))
		a := raft.Server{ID: "a", Address: trans.LocalAddr()}
		log, fsm := raft.NewInmemStore(), &counter{}
		r, err := raft.NewRaft(config("a"), fsm, log, log, raft.NewInmemSnapshotStore(), trans)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { r.Shutdown().Error() }()
		old := entries(t, 1, 6)
		if resp := leader.append(t, a, raft.AppendEntriesRequest{Term: 1, Entries: old, LeaderCommitIndex: 5}); !resp.Success {
			t.Fatal("the first entries are refused")
		}
		// In term 2 the entries from 6 on are others, and committed by the others.
		req := raft.AppendEntriesRequest{Term: 2, PrevLogEntry: 5, PrevLogTerm: 1, LeaderCommitIndex: 7}
		if resp := leader.append(t, a, req); !resp.Success {
			t.Fatal("the entries up to 5 are refused")
		}
		eventually(t, "entry 5 is applied", func() bool { return fsm.applied.Load() >= 5 })
		overruled := r.CommitIndex() > 5
		switch {
		case n.stock && !overruled:
			t.Error("not provoked: entry 6 was not committed")
		case !n.stock && overruled:
			t.Errorf("commit index %d covers entries that were not compared", r.CommitIndex())
		}
	})
}

// slowNoop is a log in which the first entry of a leader's term is written when the test says so.
type slowNoop struct {
	*raft.InmemStore
	write chan struct{}
}

func (l slowNoop) StoreLogs(entries []*raft.Log) error {
	if entries[0].Type == raft.LogNoop {
		<-l.write
	}
	return l.InmemStore.StoreLogs(entries)
}

// TestLeaderTellsOfMoreThanItSends shows the leader's part of the same fault. The library reads the
// last index of its log, waits because the follower was unreachable, and only then reads the commit
// index, which may have advanced beyond that last index.
func TestLeaderTellsOfMoreThanItSends(t *testing.T) {
	const (
		failures = 9                      // after which the library waits for 1280 ms
		looked   = 300 * time.Millisecond // after a failure it has looked
	)
	kinds(t, func(t *testing.T, n *network) {
		trans := n.transport("a")
		b, c := n.puppet("b", n.transport("b")), n.puppet("c", n.transport("c"))
		log := slowNoop{raft.NewInmemStore(), make(chan struct{})}
		cfg := config("a")
		cfg.CommitTimeout = time.Millisecond
		r, a := n.among(cfg, &counter{}, log, trans, b, c)
		var appended, more atomic.Int64
		c.answers(func(rpc raft.RPC) bool {
			if !appends(rpc) {
				return false
			}
			if appended.Add(1) <= failures {
				rpc.Respond(nil, errors.New("cannot be reached"))
				return true
			}
			if cmd := rpc.Command.(*raft.AppendEntriesRequest); cmd.LeaderCommitIndex > cmd.PrevLogEntry+uint64(len(cmd.Entries)) {
				more.Add(1)
			}
			return false
		})
		b.elect(t, library{r}, a)
		eventually(t, "the follower fails", func() bool { return appended.Load() == failures })
		time.AfterFunc(looked, func() { close(log.write) })
		eventually(t, "all is committed and sent", func() bool { return appended.Load() > failures+2 && r.CommitIndex() > 1 })
		switch {
		case n.stock && more.Load() == 0:
			t.Error("not provoked: no request had a commit index beyond the entries sent")
		case !n.stock && more.Load() > 0:
			t.Errorf("%d requests have a commit index beyond the entries sent", more.Load())
		}
	})
}
