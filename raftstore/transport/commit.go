package transport

import (
	"sync"

	"github.com/hashicorp/raft"
)

// commits lets Raft learn of a commit as soon as this node knows of it. The library's leader tells
// followers of a commit with its next append, up to twice the commit timeout later, and until then
// a follower can neither serve a linearizable read of the entry nor acknowledge the write that it
// forwarded. The leader's answer to either already says that the entry is committed: that goes into
// the next append, or into one without entries that the leader itself could have sent.
type commits struct {
	wake chan struct{} // holds one value when known has advanced

	mu    sync.Mutex
	known position // the latest that AdvanceCommit reported
}

// position is an entry of a leader's own term.
type position struct{ term, index uint64 }

func newCommits() *commits { return &commits{wake: make(chan struct{}, 1)} }

// advance records that the leader of a term has committed its own entry at index.
func (c *commits) advance(term, index uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if term < c.known.term || index <= c.known.index {
		return
	}
	c.known = position{term, index}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *commits) latest() position {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}

// appended is what the latest append that went to Raft asked for.
type appended struct {
	header raft.RPCHeader
	term   uint64
	last   uint64 // index of the last entry that it sent or compared
	commit uint64
}

// follow notes an append, and raises its commit index to what is known to be committed, but not
// beyond the entries that it sends or compares (see compared).
func (a *appended) follow(req *raft.AppendEntriesRequest, known position) {
	if req.Term < a.term || req.PrevLogEntry == 0 && len(req.Entries) == 0 {
		return // of a former leader, or a heartbeat
	}
	last := req.PrevLogEntry + uint64(len(req.Entries))
	if known.term == req.Term && known.index > req.LeaderCommitIndex && known.index <= last {
		req.LeaderCommitIndex = known.index
	}
	*a = appended{header: req.RPCHeader, term: req.Term, last: last, commit: req.LeaderCommitIndex}
}

// tell makes the append, without entries, that tells Raft of a commit; nil when Raft has been told,
// or when the entry has not arrived: then follow tells. Raft takes it only if its log has the entry
// with that term, and so, by the log matching property, all entries that the leader has before it.
func (a *appended) tell(known position) *raft.AppendEntriesRequest {
	if known.term != a.term || known.index > a.last || known.index <= a.commit {
		return nil
	}
	a.commit = known.index
	return &raft.AppendEntriesRequest{
		RPCHeader: a.header, Term: a.term,
		PrevLogEntry: known.index, PrevLogTerm: known.term, LeaderCommitIndex: known.index,
	}
}
