package write

import "testing"

// Only a proposal that began after a moment, and was committed, proves what was acknowledged before
// the moment.
func TestLeadershipProof(t *testing.T) {
	var p leadershipProof
	if p.coversSince(p.mark()) {
		t.Error("proved without a proposal")
	}
	early := p.propose()
	arrival := p.mark()
	p.commit(early)
	if p.coversSince(arrival) {
		t.Error("proved by a proposal that began before")
	}
	late, later := p.propose(), p.propose()
	if p.coversSince(arrival) {
		t.Error("proved by a proposal that is not committed")
	}
	p.commit(later)
	if !p.coversSince(arrival) {
		t.Error("not proved by a later proposal that is committed")
	}
	p.commit(late) // completes after a later one
	if p.coversSince(p.mark()) || !p.coversSince(later-1) {
		t.Errorf("the last committed is %d, want %d", p.committed.Load(), later)
	}
}
