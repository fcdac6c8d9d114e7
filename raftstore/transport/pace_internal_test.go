package transport

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// pacing is a replication to a non-voter, whose requests are measured.
type pacing struct {
	*replication
	voter bool
	sent  int
	last  uint64 // index of the last entry that was sent
}

func pace(t *testing.T, fn func(*pacing)) {
	t.Helper()
	replicate(t, func(r *replication) {
		p := &pacing{replication: r, sent: 1, last: 1}
		r.node.SetNonvoter(func(id raft.ServerID) bool { return id == "follower" && !p.voter })
		fn(p)
	})
}

// take sends count entries, whose response comes at once, and returns how long the library waited.
func (p *pacing) take(count int) time.Duration {
	p.t.Helper()
	begin := time.Now()
	returned := make(chan time.Duration)
	go func() {
		if _, err := p.pipe.AppendEntries(appendOf(p.last, count), new(raft.AppendEntriesResponse)); err != nil {
			p.t.Error(err)
		}
		returned <- time.Since(begin)
	}()
	synctest.Wait()
	p.sent++
	p.expectSent(p.sent)
	p.last += uint64(count)
	p.respond(true)
	p.expectAcked(p.last)
	return <-returned
}

func (p *pacing) expect(count int, want time.Duration) {
	p.t.Helper()
	if got := p.take(count); got != want {
		p.t.Errorf("the library waited %s after %d entries, want %s", got, count, want)
	}
}

// Appends to a non-voter are sent at once, and then the library waits, unless the follower is behind.
func TestNonvotersArePaced(t *testing.T) {
	pace(t, func(p *pacing) {
		p.expect(1, appendInterval)
		p.expect(behindEntries-1, appendInterval)
		p.expect(behindEntries, 0)
		p.expect(0, 0)
		p.voter = true
		p.expect(1, 0)
		p.voter = false
		p.expect(1, appendInterval)
	})
}

// A non-voter that has asked for something is not paced for a while.
func TestHurry(t *testing.T) {
	pace(t, func(p *pacing) {
		const early = time.Millisecond
		time.AfterFunc(early, func() { p.node.Hurry("another") })
		p.expect(1, appendInterval)
		time.AfterFunc(early, func() { p.node.Hurry("follower") })
		p.expect(1, early)
		p.expect(1, 0)
		time.Sleep(hurryTime - early)
		p.expect(1, 0)
		time.Sleep(early)
		p.expect(1, appendInterval)
	})
}

// A pipeline that is closed does not wait.
func TestPaceEndsWithThePipeline(t *testing.T) {
	pace(t, func(p *pacing) {
		const early = time.Millisecond
		time.AfterFunc(early, func() {
			if err := p.pipe.Close(); err != nil {
				p.t.Error(err)
			}
		})
		begin := time.Now()
		p.ask(1, 1)
		if took := time.Since(begin); took != early {
			p.t.Errorf("the library waited %s", took)
		}
	})
}

// A paced follower gets no early appends, and the commit index only if no entries follow.
func TestPacedFollowerGetsFewAppends(t *testing.T) {
	pace(t, func(p *pacing) {
		p.expect(1, appendInterval)
		p.store(commands(3, 1))
		p.expectSent(p.sent)
		p.expect(1, appendInterval)
		all := func(uint64) uint64 { return p.last }
		p.node.SetCommitted(all)
		time.Sleep(commitPause - time.Nanosecond)
		synctest.Wait()
		p.expectSent(p.sent)
		p.node.SetCommitted(all) // for the race detector, which does not know of the clock
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if req := p.expectSent(p.sent + 1); len(req.Entries) != 0 || req.LeaderCommitIndex != p.last {
			p.t.Errorf("sent %+v", req)
		}
		p.respond(true)
	})
}
