package transport

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// fakeInner is the library's pipeline, with responses that the test gives.
type fakeInner struct {
	mu       sync.Mutex
	requests []*raft.AppendEntriesRequest
	pending  []*fakeAppend
	done     chan raft.AppendFuture
}

type fakeAppend struct {
	req  *raft.AppendEntriesRequest
	resp *raft.AppendEntriesResponse
}

func (a *fakeAppend) Error() error                          { return nil }
func (a *fakeAppend) Start() time.Time                      { return time.Time{} }
func (a *fakeAppend) Request() *raft.AppendEntriesRequest   { return a.req }
func (a *fakeAppend) Response() *raft.AppendEntriesResponse { return a.resp }

func (f *fakeInner) AppendEntries(req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := &fakeAppend{req, resp}
	f.requests, f.pending = append(f.requests, req), append(f.pending, a)
	return a, nil
}

func (f *fakeInner) Consumer() <-chan raft.AppendFuture { return f.done }
func (f *fakeInner) Close() error                       { return nil }

// replication drives a pipeline as the library's leader does.
type replication struct {
	t     *testing.T
	inner *fakeInner
	node  *Raft
	pipe  *pipeline
}

// replicate runs fn with a pipeline that has sent entry 1, which the follower has stored.
func replicate(t *testing.T, fn func(*replication)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		node := &Raft{mux: &Mux{metrics: newMetrics(nil)}, followers: Followers{Stored: func(raft.ServerID, uint64) {}}}
		node.SetCommitted(func(uint64) uint64 { return 1 })
		r := &replication{t: t, node: node, inner: &fakeInner{done: make(chan raft.AppendFuture)}}
		r.pipe = newPipeline(r.inner, node, "follower")
		r.ask(0, 1)
		r.respond(true)
		r.expectAcked(1)
		fn(r)
		if err := r.pipe.Close(); err != nil {
			t.Error(err)
		}
		if len(node.pipelines.open) != 0 {
			t.Error("the closed pipeline is still announced to")
		}
	})
}

func commands(first, count int) (entries []*raft.Log) {
	for i := range count {
		entries = append(entries, &raft.Log{Index: uint64(first + i), Term: 3, Type: raft.LogCommand, Data: []byte("x")})
	}
	return entries
}

// appendOf returns the library's request with count entries behind prev.
func appendOf(prev uint64, count int) *raft.AppendEntriesRequest {
	return &raft.AppendEntriesRequest{
		RPCHeader: raft.RPCHeader{ID: []byte("leader"), Addr: []byte("a")}, Term: 3,
		PrevLogEntry: prev, PrevLogTerm: 3, Entries: commands(int(prev)+1, count), LeaderCommitIndex: prev,
	}
}

// store announces entries, as Raft does when it stores them.
func (r *replication) store(entries []*raft.Log) {
	r.node.pipelines.announce(entries)
	synctest.Wait()
}

func (r *replication) ask(prev uint64, count int) {
	r.t.Helper()
	if _, err := r.pipe.AppendEntries(appendOf(prev, count), new(raft.AppendEntriesResponse)); err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
}

// respond makes the follower respond to the oldest request.
func (r *replication) respond(success bool) {
	r.t.Helper()
	if len(r.inner.pending) == 0 {
		r.t.Fatal("no request is in flight")
	}
	a := r.inner.pending[0]
	r.inner.pending = r.inner.pending[1:]
	a.resp.Success = success
	r.inner.done <- a
	synctest.Wait()
}

func (r *replication) expectSent(want int) *raft.AppendEntriesRequest {
	r.t.Helper()
	if len(r.inner.requests) != want {
		r.t.Fatalf("%d requests were sent, want %d", len(r.inner.requests), want)
	}
	return r.inner.requests[want-1]
}

// expectAcked takes the next response, which must be to an append up to index.
func (r *replication) expectAcked(index uint64) {
	r.t.Helper()
	synctest.Wait()
	select {
	case response := <-r.pipe.Consumer():
		req := response.Request()
		if last := req.PrevLogEntry + uint64(len(req.Entries)); last != index {
			r.t.Errorf("got the response for %d, want %d", last, index)
		}
	default:
		r.t.Errorf("no response for %d", index)
	}
}

func (r *replication) expectNotAcked() {
	r.t.Helper()
	synctest.Wait()
	select {
	case response := <-r.pipe.Consumer():
		r.t.Errorf("the library got a response to %+v", response.Request())
	default:
	}
}

func TestEarlyAppend(t *testing.T) {
	t.Run("is_sent_while_the_leader_stores_and_counted_when_the_library_asks", func(t *testing.T) {
		replicate(t, func(r *replication) {
			r.store(commands(2, 2))
			early := r.expectSent(2)
			if early.PrevLogEntry != 1 || early.PrevLogTerm != 3 || early.Term != 3 || len(early.Entries) != 2 ||
				early.LeaderCommitIndex != 1 || string(early.ID) != "leader" || string(early.Addr) != "a" {
				t.Errorf("sent %+v", early)
			}
			r.respond(true)
			r.expectNotAcked() // this node has not stored the entries
			r.ask(1, 2)
			r.expectSent(2)
			r.expectAcked(3)
		})
	})

	t.Run("is_counted_when_the_response_comes_after_the_library_has_asked", func(t *testing.T) {
		replicate(t, func(r *replication) {
			r.store(commands(2, 1))
			r.ask(1, 1)
			r.expectNotAcked()
			r.respond(true)
			r.expectAcked(2)
			r.expectSent(2)
		})
	})

	t.Run("leaves_the_rest_to_the_library", func(t *testing.T) {
		replicate(t, func(r *replication) {
			r.store(commands(2, 1))
			r.ask(1, 3)
			rest := r.expectSent(3)
			if rest.PrevLogEntry != 2 || rest.PrevLogTerm != 3 || len(rest.Entries) != 2 || rest.Entries[0].Index != 3 {
				t.Errorf("sent %+v", rest)
			}
			r.respond(true)
			r.expectAcked(2)
			r.respond(true)
			r.expectAcked(4)
		})
	})

	t.Run("is_not_claimed_by_an_empty_append", func(t *testing.T) {
		replicate(t, func(r *replication) {
			r.store(commands(2, 1))
			r.ask(1, 0)
			r.respond(true)
			r.expectNotAcked()
			r.expectSent(2)
			r.ask(1, 1)
			r.expectAcked(2)
		})
	})

	t.Run("is_sent_behind_an_append_without_entries", func(t *testing.T) {
		replicate(t, func(r *replication) {
			r.node.SetCommitted(func(uint64) uint64 { return 2 })
			r.ask(1, 1)
			r.respond(true)
			r.expectAcked(2)
			time.Sleep(2 * commitPause)
			synctest.Wait()
			if commit := r.expectSent(3); len(commit.Entries) != 0 || commit.LeaderCommitIndex != 2 {
				t.Errorf("sent %+v", commit)
			}
			r.store(commands(3, 2))
			if early := r.expectSent(4); len(early.Entries) != 2 {
				t.Errorf("sent %+v", early)
			}
			r.respond(true)
			r.expectAcked(2)
			r.respond(true)
			r.expectNotAcked()
			r.ask(2, 2)
			r.expectSent(4)
			r.expectAcked(4)
		})
	})

	t.Run("is_not_counted_behind_a_refused_append_without_entries", func(t *testing.T) {
		replicate(t, func(r *replication) {
			r.ask(1, 0)
			r.store(commands(2, 1))
			r.expectSent(3)
			r.ask(1, 1)
			r.respond(false)
			r.expectAcked(1) // the refusal
			r.respond(true)
			r.expectNotAcked()
			if _, err := r.pipe.AppendEntries(appendOf(2, 1), new(raft.AppendEntriesResponse)); !errors.Is(err, errBroken) {
				t.Errorf("got %v", err)
			}
		})
	})

	t.Run("one_after_the_other", func(t *testing.T) {
		replicate(t, func(r *replication) {
			for index := 2; index < 10; index++ {
				r.store(commands(index, 1))
				r.respond(true)
				r.ask(uint64(index-1), 1)
				r.expectAcked(uint64(index))
				r.expectSent(index)
			}
		})
	})

	t.Run("fails_when_the_library_sends_something_else", func(t *testing.T) {
		replicate(t, func(r *replication) {
			r.store(commands(2, 2))
			if _, err := r.pipe.AppendEntries(appendOf(1, 1), new(raft.AppendEntriesResponse)); !errors.Is(err, errBroken) {
				t.Errorf("got %v", err)
			}
			r.expectSent(2)
		})
	})

	t.Run("refused_ends_the_pipeline", func(t *testing.T) {
		replicate(t, func(r *replication) {
			r.store(commands(2, 1))
			r.respond(false)
			r.ask(1, 1)
			r.expectAcked(2) // the refusal
			if _, err := r.pipe.AppendEntries(appendOf(2, 1), new(raft.AppendEntriesResponse)); !errors.Is(err, errBroken) {
				t.Errorf("got %v", err)
			}
		})
	})
}

func TestNothingIsSentEarly(t *testing.T) {
	for name, prepare := range map[string]func(*replication) []*raft.Log{
		"behind_a_request_in_flight": func(r *replication) []*raft.Log {
			r.ask(1, 1)
			return commands(3, 1)
		},
		"after_a_gap":               func(*replication) []*raft.Log { return commands(3, 1) },
		"that_the_library_has_sent": func(*replication) []*raft.Log { return commands(1, 1) },
		"of_another_term": func(*replication) []*raft.Log {
			entries := commands(2, 1)
			entries[0].Term++
			return entries
		},
		"that_changes_the_configuration": func(*replication) []*raft.Log {
			entries := commands(2, 2)
			entries[1].Type = raft.LogConfiguration
			return entries
		},
		"that_has_more_entries_than_the_library_asks_for": func(*replication) []*raft.Log { return commands(2, maxEarlyEntries+1) },
		"that_is_large": func(*replication) []*raft.Log {
			entries := commands(2, 2)
			entries[1].Data = make([]byte, maxEarlyBytes)
			return entries
		},
		"by_a_node_that_gives_up_leadership": func(r *replication) []*raft.Log {
			r.node.Mute(true)
			return commands(2, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			replicate(t, func(r *replication) {
				entries := prepare(r)
				before := len(r.inner.requests)
				r.store(entries)
				r.expectSent(before)
			})
		})
	}
}

// A request may be sent between the announcement of entries and their turn.
func TestNothingIsSentEarlyBesideALaterRequest(t *testing.T) {
	replicate(t, func(r *replication) {
		r.ask(1, 1)
		r.pipe.sendAnnounced(commands(3, 1))
		r.expectSent(2)
	})
}
