package transport

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"quorate/raftstore/appendrpc"
	"quorate/raftstore/direct"
)

// maxAppendBytes bounds the entries of one request, unless a single entry is larger. The library
// bounds only their number. On a slow link, a full request could take longer than the timeout, and
// the library would send the same entries again and again.
const maxAppendBytes = 1 << 20

// raftConnections is the number of idle connections kept to one peer: one each for replication,
// heartbeats and votes.
const raftConnections = 3

// Raft is the transport that the Raft library uses.
type Raft struct {
	*raft.NetworkTransport
	stream    stream
	mux       *Mux
	resolve   func(name string) (addr string, ok bool)
	dialled   *dialled
	timeout   time.Duration // of a request
	muted     atomic.Bool
	followers Followers
	committed atomic.Pointer[func(term uint64) uint64] // see SetCommitted
	nonvoter  atomic.Pointer[func(raft.ServerID) bool] // see SetNonvoter
	pipelines pipelines
	installs  installs

	requests  *requests
	appends   *appendrpc.Server
	work      sync.WaitGroup
	closeOnce sync.Once
}

// Followers receives reports of what followers have stored of this node's log while it leads. Its
// functions must not block.
type Followers struct {
	// Installed reports that a follower has installed the snapshot of an index, and how long it
	// took to send.
	Installed func(id raft.ServerID, index uint64, took time.Duration)
	// Stored reports that a follower has stored the log up to index. The reports of one follower
	// are in order, except for an index of 0, which heartbeats report.
	Stored func(id raft.ServerID, index uint64)
}

// errMuted is the error of requests through a muted transport.
var errMuted = errors.New("muted: this node has given up leadership")

var (
	_ raft.Transport   = (*Raft)(nil)
	_ raft.WithPreVote = (*Raft)(nil)
	_ raft.WithClose   = (*Raft)(nil)
)

// Raft returns the transport of the Raft library over the Mux; call it once. resolve returns a
// server's current address. If resolve is nil or does not know the server, the transport uses the
// address in Raft's configuration. timeout bounds each request; for a large snapshot, the library
// allows more time in proportion to the size.
func (m *Mux) Raft(resolve func(name string) (string, bool), timeout time.Duration, logger hclog.Logger) *Raft {
	nobody := Followers{Installed: func(raft.ServerID, uint64, time.Duration) {}, Stored: func(raft.ServerID, uint64) {}}
	conns := newDialled()
	stream := stream{subListener: m.consumers[ProtocolRaft], mux: m, dialled: conns, accepted: newAccepted()}
	inner := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:  stream,
		MaxPool: raftConnections,
		Timeout: timeout,
		Logger:  logger,
	})
	t := &Raft{
		mux:              m,
		stream:           stream,
		dialled:          conns,
		timeout:          timeout,
		followers:        nobody,
		NetworkTransport: inner,
		requests:         newRequests(inner.Consumer()),
		resolve:          resolve,
	}
	t.appends = appendrpc.NewServer(t.requests.appends, m.CountTooLarge, m.cfg.Logger)
	t.work.Go(t.requests.run)
	t.work.Go(t.serveAppends)
	return t
}

// AdvanceCommit informs Raft, which may be a follower, that the leader of a term has committed the
// entry at index, which must be of the same term. It does not block.
func (t *Raft) AdvanceCommit(term, index uint64) { t.requests.commits.advance(term, index) }

// SetFollowers sets the receiver of reports about followers. Call it before Raft starts.
func (t *Raft) SetFollowers(f Followers) { t.followers = f }

// SetCommitted sets the source of an index up to which entries are committed. It returns 0 if this
// node's term, read after the index, is not the given one: then the index may be that of other
// entries than those that this node sent as leader of the term. Until the call no index is known.
func (t *Raft) SetCommitted(index func(term uint64) uint64) { t.committed.Store(&index) }

// committedIn returns the index of SetCommitted, 0 if it is not known.
func (t *Raft) committedIn(term uint64) uint64 {
	if index := t.committed.Load(); index != nil {
		return (*index)(term)
	}
	return 0
}

// SetHeartbeatHandler does nothing, which disables the library's fast path for heartbeats. With it,
// a heartbeat would change term and state on the transport's goroutine while the main loop writes
// as leader or grants a vote, and nodes could commit different entries at one index
// (hashicorp/raft#695).
func (t *Raft) SetHeartbeatHandler(func(raft.RPC)) {}

// Mute stops this node's heartbeats and entries as a leader, so that the other voters elect another
// leader. Votes and responses are still sent.
func (t *Raft) Mute(mute bool) { t.muted.Store(mute) }

// Abort breaks all connections to peers and prevents new ones, so that pending requests fail now.
// Raft's shutdown waits for them.
func (t *Raft) Abort() { t.dialled.abort() }

// Disconnect closes all connections from and to a peer that is no longer a member. The handshake
// refuses new ones from a peer that may not rejoin.
func (t *Raft) Disconnect(name string) {
	t.installs.cancel(raft.ServerID(name))
	t.dialled.disconnect(name)
	t.mux.Disconnect(name)
}

// Close closes the transport with the connections that the library's own Close leaves open, those
// in its pool and those of peers, and waits until none is served.
func (t *Raft) Close() error {
	t.Abort()
	t.NetworkTransport.CloseStreams()
	err := errors.Join(t.NetworkTransport.Close(), t.mux.consumers[protocolAppends].Close())
	t.stream.accepted.close()
	t.appends.Close()
	t.closeOnce.Do(func() { close(t.requests.done) })
	t.work.Wait()
	return err
}

// serveAppends serves the connections of protocolAppends until their listener is closed.
func (t *Raft) serveAppends() {
	if err := t.appends.Serve(t.mux.consumers[protocolAppends]); err != nil {
		t.mux.cfg.Logger.Error("appends are no longer accepted", "error", err)
	}
}

// Lost returns a channel of the names of peers whose connection to this node ended, for whatever
// reason; Refused finds out whether the peer's process ended.
func (t *Raft) Lost() <-chan string { return t.mux.lost }

// Refused reports whether the host of a peer refuses connections to the peer's address, as it does
// when the peer's process has ended.
func (t *Raft) Refused(ctx context.Context, id raft.ServerID, known raft.ServerAddress) bool {
	c, err := t.mux.Dial(ctx, string(id), string(t.addressOf(id, known)), ProtocolRaft)
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED)
	}
	c.Close()
	return false
}

func (t *Raft) addressOf(id raft.ServerID, known raft.ServerAddress) raft.ServerAddress {
	if t.resolve != nil {
		if addr, ok := t.resolve(string(id)); ok {
			return raft.ServerAddress(addr)
		}
	}
	return known
}

// target returns the address of a peer with the peer's name in front. Machines and containers that
// restart may swap addresses, so another node may have the address by the time it is dialled. The
// name makes that dial fail. Otherwise the other node's response would count as the peer's, and a
// quorum could consist of fewer nodes than it should.
func (t *Raft) target(id raft.ServerID, known raft.ServerAddress) raft.ServerAddress {
	return raft.ServerAddress(id) + nameSeparator + t.addressOf(id, known)
}

// AppendEntriesPipeline implements raft.Transport.
func (t *Raft) AppendEntriesPipeline(id raft.ServerID, to raft.ServerAddress) (raft.AppendPipeline, error) {
	if t.muted.Load() {
		return nil, errMuted
	}
	target := t.target(id, to)
	c, err := t.stream.dial(string(target), protocolAppends, t.timeout)
	switch {
	case err == nil:
		return newPipeline(appendrpc.NewPipeline(c, t.timeout, t.mux.metrics.farAppends.Inc), t, id), nil
	case !errors.Is(err, direct.ErrNotOffered):
		return nil, err
	}
	pipeline, err := t.NetworkTransport.AppendEntriesPipeline(id, target) // the follower's build is older
	if err != nil {
		return nil, err
	}
	return newPipeline(pipeline, t, id), nil
}

// AppendEntries implements raft.Transport.
func (t *Raft) AppendEntries(id raft.ServerID, to raft.ServerAddress, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if t.muted.Load() {
		return errMuted
	}
	shorten(req)
	if err := t.NetworkTransport.AppendEntries(id, t.target(id, to), boundCommit(req), resp); err != nil {
		return err
	}
	t.reportStored(id, req, resp)
	return nil
}

// shorten removes the entries that are too many for one request. The library reads from req
// afterwards which entries it has sent.
func shorten(req *raft.AppendEntriesRequest) {
	size := 0
	for i, entry := range req.Entries {
		size += len(entry.Data) + len(entry.Extensions)
		if size > maxAppendBytes && i > 0 {
			req.Entries = req.Entries[:i]
			return
		}
	}
}

// reportStored reports what a follower has stored.
func (t *Raft) reportStored(id raft.ServerID, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) {
	if resp.Success {
		t.followers.Stored(id, req.PrevLogEntry+uint64(len(req.Entries)))
	}
}

// boundCommit returns the request with a commit index no greater than the last entry that it sends
// or compares. The library puts its commit index into every request, even if the request's entries
// end before that index. A follower would then commit entries of a former leader that follow the
// compared ones in its log, and two nodes would apply different entries at one index.
func boundCommit(req *raft.AppendEntriesRequest) *raft.AppendEntriesRequest {
	last := req.PrevLogEntry + uint64(len(req.Entries))
	if req.LeaderCommitIndex <= last {
		return req
	}
	bounded := *req
	bounded.LeaderCommitIndex = last
	return &bounded
}

// retryStale calls ask, and again after an error, up to once for each idle connection that a
// restart of the peer may have broken. It gives up if the peer can't be dialled or the timeout has
// passed. A lost vote request would cost an election timeout. The peer may receive the request more
// than once.
func (t *Raft) retryStale(ask func() error) error {
	deadline := time.Now().Add(t.timeout)
	err := ask()
	for range raftConnections {
		_, dialError := errors.AsType[*dialError](err)
		if err == nil || dialError || !time.Now().Before(deadline) {
			break
		}
		err = ask()
	}
	return err
}

// RequestVote implements raft.Transport.
func (t *Raft) RequestVote(id raft.ServerID, to raft.ServerAddress, req *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	return t.retryStale(func() error { return t.NetworkTransport.RequestVote(id, t.target(id, to), req, resp) })
}

// RequestPreVote implements raft.WithPreVote.
func (t *Raft) RequestPreVote(id raft.ServerID, to raft.ServerAddress, req *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	return t.retryStale(func() error { return t.NetworkTransport.RequestPreVote(id, t.target(id, to), req, resp) })
}

// TimeoutNow implements raft.Transport.
func (t *Raft) TimeoutNow(id raft.ServerID, to raft.ServerAddress, req *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	return t.retryStale(func() error { return t.NetworkTransport.TimeoutNow(id, t.target(id, to), req, resp) })
}
