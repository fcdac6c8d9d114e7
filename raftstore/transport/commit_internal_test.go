package transport

import (
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

func request(term, prev uint64, entries int, commit uint64) *raft.AppendEntriesRequest {
	return &raft.AppendEntriesRequest{
		RPCHeader: raft.RPCHeader{ID: []byte("leader"), Addr: []byte("address")},
		Term:      term, PrevLogEntry: prev, PrevLogTerm: term, Entries: make([]*raft.Log, entries), LeaderCommitIndex: commit,
	}
}

// startRequests runs a requests and returns it with the channel for requests from the network.
func startRequests(t *testing.T) (*requests, chan<- raft.RPC) {
	t.Helper()
	network := make(chan raft.RPC)
	r := newRequests(network)
	var running sync.WaitGroup
	running.Go(r.run)
	t.Cleanup(func() {
		close(r.done)
		running.Wait()
	})
	return r, network
}

// next returns what Raft gets next.
func next(t *testing.T, r *requests) *raft.AppendEntriesRequest {
	t.Helper()
	select {
	case rpc := <-r.to:
		return rpc.Command.(*raft.AppendEntriesRequest)
	case <-time.After(20 * time.Second):
		t.Fatal("Raft gets nothing")
		return nil
	}
}

// Raft learns only of commits by its present leader, and only of entries that the leader has sent.
func TestCommitAppendNotNeeded(t *testing.T) {
	for name, known := range map[string]position{
		"beyond_the_entries_that_were_sent": {3, 9}, "of_a_former_term": {2, 8}, "of_a_later_term": {4, 8}, "known_already": {3, 6},
	} {
		t.Run(name, func(t *testing.T) {
			var log lastAppend
			log.recordAppend(request(3, 7, 1, 6), position{})
			if got := log.commitAppend(known); got != nil {
				t.Errorf("made %+v", got)
			}
			if got := log.commitAppend(position{3, 8}); got == nil || got.LeaderCommitIndex != 8 {
				t.Errorf("made %+v for a new commit", got)
			}
		})
	}
}

// Commits are passed to Raft in the same way whether appends arrive by the library's transport or in
// a pipeline.
func TestCommitAheadOfTheNextAppend(t *testing.T) {
	t.Run("library", func(t *testing.T) { checkCommits(t, startRequests) })
	t.Run("pipeline", func(t *testing.T) {
		checkCommits(t, func(t *testing.T) (*requests, chan<- raft.RPC) {
			r, _ := startRequests(t)
			return r, r.appends
		})
	})
}

func checkCommits(t *testing.T, startRequests func(*testing.T) (*requests, chan<- raft.RPC)) {
	t.Run("of_an_entry_that_arrived", func(t *testing.T) {
		r, network := startRequests(t)
		network <- raft.RPC{Command: request(3, 7, 2, 6)}
		if got := next(t, r); got.LeaderCommitIndex != 6 {
			t.Errorf("commit index %d before it was known", got.LeaderCommitIndex)
		}
		r.commits.advance(3, 8)
		got := next(t, r)
		if got.Term != 3 || got.PrevLogEntry != 8 || got.PrevLogTerm != 3 || got.LeaderCommitIndex != 8 || len(got.Entries) != 0 ||
			string(got.ID) != "leader" || string(got.Addr) != "address" {
			t.Errorf("made %+v", got)
		}
	})

	t.Run("of_an_entry_that_arrives_later", func(t *testing.T) {
		r, network := startRequests(t)
		r.commits.advance(3, 9)
		network <- raft.RPC{Command: request(3, 7, 1, 6)}
		if got := next(t, r); got.LeaderCommitIndex != 6 {
			t.Errorf("commit index %d, beyond the entries that were sent", got.LeaderCommitIndex)
		}
		network <- raft.RPC{Command: request(3, 8, 2, 6)}
		if got := next(t, r); got.LeaderCommitIndex != 9 {
			t.Errorf("commit index %d", got.LeaderCommitIndex)
		}
	})

	t.Run("never_of_another_term", func(t *testing.T) {
		r, network := startRequests(t)
		r.commits.advance(3, 9)
		for _, term := range []uint64{2, 4} {
			network <- raft.RPC{Command: request(term, 8, 2, 6)}
			if got := next(t, r); got.Term != term || got.LeaderCommitIndex != 6 {
				t.Errorf("term %d: commit index %d", got.Term, got.LeaderCommitIndex)
			}
		}
	})

	t.Run("not_by_heartbeats_and_only_once", func(t *testing.T) {
		r, network := startRequests(t)
		network <- raft.RPC{Command: request(3, 7, 2, 6)}
		next(t, r)
		r.commits.advance(3, 8)
		next(t, r)
		r.commits.advance(3, 8)
		heartbeat := &raft.AppendEntriesRequest{Term: 3}
		network <- raft.RPC{Command: heartbeat}
		if got := next(t, r); got != heartbeat || got.LeaderCommitIndex != 0 {
			t.Errorf("got %+v", got)
		}
	})
}
