package transport

import (
	"time"

	"github.com/hashicorp/raft"
)

const (
	// commitPause is how long a follower that has stored entries waits for the next append, which
	// tells it that they are committed, before it gets an append without entries. DESIGN.md has the
	// costs of other values.
	commitPause = 4 * time.Millisecond
	// repeatPause is the least pause between two equal appends without entries to a follower. The
	// second one detects a connection that has ended since, for nobody reads from an idle one: so long
	// a follower that has restarted may wait until it learns what is committed.
	repeatPause = time.Second
)

// repeats reports whether a request tells the follower nothing that the last one has not told. The
// library's leader sends its commit index once in one to two CommitTimeouts in an append without
// entries, whether it has changed or not. It waits for no response to such an append, and proves its
// leadership by heartbeats, which don't use the pipeline. The caller holds sending.
func (p *pipeline) repeats(req *raft.AppendEntriesRequest) bool {
	return p.last != nil && len(req.Entries) == 0 &&
		req.Term == p.sent.Term && req.PrevLogEntry == p.sent.PrevLogEntry && req.LeaderCommitIndex == p.sent.LeaderCommitIndex &&
		time.Since(p.sentAt) < repeatPause
}

// sendCommit sends the commit index to an idle follower that does not know it, in an append without
// entries, as the library would later. It reports whether to call it again, because entries that the
// follower has are not committed yet. The library knows of a response to no request that it did not
// make: it takes this one for that to its own last append without entries.
//
// sendCommit runs where responses are received, and so must not wait for sending, whose holder may
// wait for a response.
func (p *pipeline) sendCommit() (again bool) {
	if !p.sending.TryLock() {
		return true
	}
	defer p.sending.Unlock()
	if p.inFlight.Load() > 0 || p.early.Load() != nil || p.refusal() != nil {
		return false // the response to what is in flight leads here again
	}
	commit := min(p.transport.committedIn(p.sent.Term), p.sent.PrevLogEntry)
	if commit > p.sent.LeaderCommitIndex {
		req := p.sent
		req.LeaderCommitIndex = commit
		if _, err := p.send(&req, new(raft.AppendEntriesResponse)); err != nil {
			p.broken.Store(true)
		}
	}
	return commit < p.sent.PrevLogEntry
}
