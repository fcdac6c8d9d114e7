package write

import "sync/atomic"

// leadershipProof proves that this node's state holds every write acknowledged before some moment,
// by the commit of an entry that this node proposed after that moment. A read index proves the same
// with a request to other nodes.
//
// The proof: a quorum appended the entry, so after the moment each of its members was in the term
// of this leader. A leader of a later term needs the vote of one of them, so none was elected
// before the moment. What was acknowledged before the moment was therefore proposed by this leader,
// or by leaders whose entries it has, and precedes the entry in the log. This node has applied the
// entry.
type leadershipProof struct {
	proposed  atomic.Uint64 // the number of the last proposal
	committed atomic.Uint64 // the highest number of a proposal that was committed and applied here
}

// mark returns the present moment.
func (p *leadershipProof) mark() uint64 { return p.proposed.Load() }

// propose returns the number of a new proposal. The caller proposes the entry after the call.
func (p *leadershipProof) propose() uint64 { return p.proposed.Add(1) }

// commit records that a proposal was committed, and that this node has applied it.
func (p *leadershipProof) commit(number uint64) {
	for {
		have := p.committed.Load()
		if number <= have || p.committed.CompareAndSwap(have, number) {
			return
		}
	}
}

// coversSince reports whether the state as of now holds every write acknowledged before mark.
func (p *leadershipProof) coversSince(mark uint64) bool { return p.committed.Load() > mark }
