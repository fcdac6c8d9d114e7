package transport

import (
	"slices"
	"sync"

	"github.com/hashicorp/raft"
)

const (
	// maxEarlyBytes bounds the entries of an early append, so that they fit into the buffers of an
	// idle connection and sending them does not block.
	maxEarlyBytes = 64 << 10
	// maxEarlyEntries bounds their number: the request of the library that asks for the same append
	// must have room for all of them. It has room for fewer than Raft may store at once.
	maxEarlyEntries = 64
)

// EarlyLog returns the log store that Raft uses, over store. When Raft as leader stores a few small
// commands, this log store sends them at the same time to the followers that have responded to all
// earlier appends with entries. The library alone would send them only after it has stored them, so
// that each write would wait for the leader's disk and then for a follower's.
//
// A follower may store an entry before its leader does (Ongaro, "Consensus: Bridging Theory and
// Practice", 10.2.1). The library still counts this node only after StoreLogs has returned. It
// learns of a follower's response only after it has itself requested the same append from the
// pipeline, which is later still. If StoreLogs fails, the node steps down and never leads the term
// again, so no other entry gets the same term and index.
func (t *Raft) EarlyLog(store raft.LogStore) raft.LogStore { return earlyLog{store, &t.pipelines} }

type earlyLog struct {
	raft.LogStore
	followers *pipelines
}

// StoreLogs implements raft.LogStore.
func (l earlyLog) StoreLogs(entries []*raft.Log) error {
	l.followers.announce(entries)
	return l.LogStore.StoreLogs(entries)
}

// IsMonotonic implements raft.MonotonicLogStore.
func (l earlyLog) IsMonotonic() bool {
	m, ok := l.LogStore.(raft.MonotonicLogStore)
	return ok && m.IsMonotonic()
}

// pipelines are the open pipelines. There are none unless this node leads.
type pipelines struct {
	mu   sync.Mutex
	open []*pipeline
}

func (ps *pipelines) add(p *pipeline) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.open = append(ps.open, p)
}

func (ps *pipelines) remove(p *pipeline) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.open = slices.DeleteFunc(ps.open, func(other *pipeline) bool { return other == p })
}

// announce passes entries that Raft is about to store to the pipelines whose followers store no
// others. A busy pipeline sends them with its next request, while the follower stores those of the
// last. An append without entries in flight, which only has the commit index, makes no difference.
// announce does not block.
func (ps *pipelines) announce(entries []*raft.Log) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if len(ps.open) == 0 || !mayBeEarly(entries) {
		return
	}
	for _, p := range ps.open {
		if p.withEntries.Load() == 0 && !p.pacer.paced() {
			select {
			case p.announced <- entries:
			default:
			}
		}
	}
}

// mayBeEarly reports whether the entries are few commands of few bytes. Entries of other types
// change who the followers are.
func mayBeEarly(entries []*raft.Log) bool {
	if len(entries) > maxEarlyEntries {
		return false
	}
	size := 0
	for _, e := range entries {
		size += len(e.Data) + len(e.Extensions)
		if e.Type != raft.LogCommand || size > maxEarlyBytes {
			return false
		}
	}
	return true
}

// early is an append that was sent before the library asked for it.
type early struct {
	resp    *raft.AppendEntriesResponse
	future  raft.AppendFuture // under sending
	claimed chan struct{}     // closed once the library has asked for it
}

// sendEarly sends announced entries until the pipeline closes.
func (p *pipeline) sendEarly() {
	for {
		select {
		case entries := <-p.announced:
			p.sendAnnounced(entries)
		case <-p.closed:
			return
		}
	}
}

// sendAnnounced sends entries if they follow the last one sent and the follower stores no others.
func (p *pipeline) sendAnnounced(entries []*raft.Log) {
	p.sending.Lock()
	defer p.sending.Unlock()
	from := p.sent
	if p.early.Load() != nil || p.withEntries.Load() > 0 || p.refusal() != nil ||
		entries[0].Index != from.PrevLogEntry+1 || entries[0].Term != from.Term {
		return
	}
	req := from // the same leader and term, after the last entry
	req.Entries, req.LeaderCommitIndex = entries, p.transport.committedIn(from.Term)
	// Before it is sent, because awaitClaim does not lock sending: sending waits for responses.
	e := &early{resp: new(raft.AppendEntriesResponse), claimed: make(chan struct{})}
	p.early.Store(e)
	var err error
	if e.future, err = p.send(&req, e.resp); err != nil {
		p.broken.Store(true)
		return
	}
	p.transport.mux.metrics.earlyAppends.Inc()
}

// claim matches a request of the library with the append that was sent early, if there is one. It
// returns that append if the request has no further entries. If it has, claim removes those that
// were sent early from the request and returns nil, so that the caller sends the rest. It returns
// errBroken if the request has entries and does not begin with those that were sent early.
func (p *pipeline) claim(req *raft.AppendEntriesRequest) (raft.AppendFuture, error) {
	e := p.early.Load()
	switch {
	case e == nil:
		return nil, nil
	case len(req.Entries) == 0:
		return e.future, nil // the library has not stored the entries yet; it asks for them next
	}
	sent := e.future.Request()
	count := len(sent.Entries)
	if req.Term != sent.Term || req.PrevLogEntry != sent.PrevLogEntry || len(req.Entries) < count {
		p.broken.Store(true)
		return nil, errBroken
	}
	p.early.Store(nil)
	close(e.claimed)
	if len(req.Entries) == count {
		return e.future, nil
	}
	last := req.Entries[count-1]
	req.PrevLogEntry, req.PrevLogTerm, req.Entries = last.Index, last.Term, req.Entries[count:]
	return nil, nil
}

// awaitClaim waits until the library has requested the append of a response, and returns false if
// the pipeline closes first. Only the response to an early append has to wait; until the library
// has requested that append, none is in flight behind it.
func (p *pipeline) awaitClaim(response raft.AppendFuture) bool {
	e := p.early.Load()
	if e == nil || e.resp != response.Response() {
		return true
	}
	select {
	case <-e.claimed:
		return true
	case <-p.closed:
		return false
	}
}
