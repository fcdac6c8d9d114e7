package transport

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// An append that tells the follower nothing new is sent again only after a pause.
func TestRepeatedAppends(t *testing.T) {
	replicate(t, func(r *replication) {
		r.ask(1, 0) // with a commit index that the follower does not know
		r.expectSent(2)
		r.respond(true)
		r.expectAcked(1)
		for range 10 {
			r.ask(1, 0)
		}
		r.expectSent(2)
		time.Sleep(repeatPause)
		r.ask(1, 0)
		r.expectSent(3)
		r.ask(1, 0)
		r.expectSent(3)

		for _, change := range []func(*raft.AppendEntriesRequest){
			func(req *raft.AppendEntriesRequest) { req.LeaderCommitIndex-- },
			func(req *raft.AppendEntriesRequest) { req.Term++ },
			func(req *raft.AppendEntriesRequest) { req.PrevLogEntry-- },
		} {
			before := len(r.inner.requests)
			req := appendOf(1, 0)
			change(req)
			if _, err := r.pipe.AppendEntries(req, new(raft.AppendEntriesResponse)); err != nil {
				t.Fatal(err)
			}
			r.expectSent(before + 1)
			r.ask(1, 0)
			r.expectSent(before + 2)
		}
		before := len(r.inner.requests)
		r.ask(1, 1)
		if sent := r.expectSent(before + 1); len(sent.Entries) != 1 {
			t.Errorf("sent %+v", sent)
		}
	})
}

// A new pipeline sends its first append, whatever it is.
func TestFirstAppendIsSent(t *testing.T) {
	inner := &fakeInner{done: make(chan raft.AppendFuture)}
	p := newPipeline(inner, &Raft{mux: &Mux{metrics: newMetrics(nil)}}, "follower")
	if _, err := p.AppendEntries(new(raft.AppendEntriesRequest), new(raft.AppendEntriesResponse)); err != nil {
		t.Error(err)
	}
	if len(inner.requests) != 1 {
		t.Errorf("%d requests were sent, want 1", len(inner.requests))
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// An idle follower learns of a commit after a short pause, once, and never of one in another term or
// beyond what it was sent.
func TestCommitIsSentToAnIdleFollower(t *testing.T) {
	replicate(t, func(r *replication) {
		var committed uint64
		var term uint64 = 3
		var mu sync.Mutex
		r.node.SetCommitted(func(in uint64) uint64 {
			mu.Lock()
			defer mu.Unlock()
			if in != term {
				return 0
			}
			return committed
		})
		set := func(index, in uint64) {
			mu.Lock()
			defer mu.Unlock()
			committed, term = index, in
		}
		pause := func() {
			time.Sleep(commitPause)
			synctest.Wait()
		}

		pause()
		r.expectSent(1) // not committed
		set(9, 4)
		pause()
		r.expectSent(1) // in another term
		set(9, 3)
		pause()
		sent := r.expectSent(2)
		if sent.Term != 3 || sent.PrevLogEntry != 1 || sent.PrevLogTerm != 3 || len(sent.Entries) > 0 || sent.LeaderCommitIndex != 1 {
			t.Errorf("sent %+v", sent)
		}
		r.respond(true)
		r.expectAcked(1)
		for range 5 {
			pause()
		}
		r.expectSent(2)

		r.ask(1, 2)
		r.expectSent(3)
		pause()
		pause()
		r.expectSent(3) // the follower has not responded
		r.respond(true)
		r.expectAcked(3)
		pause()
		if sent := r.expectSent(4); sent.LeaderCommitIndex != 3 || sent.PrevLogEntry != 3 {
			t.Errorf("sent %+v", sent)
		}
		r.respond(false)
		r.expectAcked(3)
		set(10, 3)
		pause()
		r.expectSent(4) // an append was refused
	})
}
