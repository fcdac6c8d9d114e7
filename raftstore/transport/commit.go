package transport

import (
	"sync"

	"github.com/hashicorp/raft"
)

// commits lets Raft learn of a commit as soon as this node knows of it. The library's leader sends
// its commit index only with the next append, up to twice the commit timeout later. Until then, a
// follower can neither serve a linearizable read of the entry nor acknowledge a write that it
// forwarded. But the leader's response to the request for a read index, or to the forwarded write,
// already says that the entry is committed. commits adds this index to the next append, or passes
// it to Raft in an append without entries, such as the leader itself could have sent.
type commits struct {
	wake chan struct{} // holds one value when known has advanced

	mu    sync.Mutex
	known position // the latest one passed to AdvanceCommit
}

// position is an entry that a leader appended in its own term.
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

// lastAppend describes the latest append that was passed to Raft.
type lastAppend struct {
	header raft.RPCHeader
	term   uint64
	last   uint64 // index of the last entry that it sent or compared
	commit uint64
}

// recordAppend records an append, and raises its commit index to the known one, but not beyond the
// entries that it sends or compares (see boundCommit).
func (a *lastAppend) recordAppend(req *raft.AppendEntriesRequest, known position) {
	if req.Term < a.term || req.PrevLogEntry == 0 && len(req.Entries) == 0 {
		return // from a former leader, or a heartbeat
	}
	last := req.PrevLogEntry + uint64(len(req.Entries))
	if known.term == req.Term && known.index > req.LeaderCommitIndex && known.index <= last {
		req.LeaderCommitIndex = known.index
	}
	*a = lastAppend{header: req.RPCHeader, term: req.Term, last: last, commit: req.LeaderCommitIndex}
}

// commitAppend returns an append without entries that advances Raft's commit index to known.index.
// It returns nil if Raft's commit index is already that high, if the last append was of another
// term than known, or if this node has not received the entry at known.index; in the last case,
// recordAppend raises the commit index in the append that carries the entry. Raft accepts the
// returned append only if its log has an entry with the index and term of known. By the log
// matching property, it then also has all entries that precede this one in the leader's log.
func (a *lastAppend) commitAppend(known position) *raft.AppendEntriesRequest {
	if known.term != a.term || known.index > a.last || known.index <= a.commit {
		return nil
	}
	a.commit = known.index
	return &raft.AppendEntriesRequest{
		RPCHeader: a.header, Term: a.term,
		PrevLogEntry: known.index, PrevLogTerm: known.term, LeaderCommitIndex: known.index,
	}
}
