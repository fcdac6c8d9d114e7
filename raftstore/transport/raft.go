package transport

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// maxAppendBytes bounds the entries of one request, but for a single one that is larger. The
// library counts entries only, and 512 of them may be more than a slow link carries within a
// request's timeout: then they would be sent again and again.
const maxAppendBytes = 1 << 20

// raftConnections is how many idle connections to one peer are kept: replication, heartbeat and a
// vote.
const raftConnections = 3

// Raft is the transport handed to the Raft library.
type Raft struct {
	*raft.NetworkTransport
	mux     *Mux
	resolve func(name string) (addr string, ok bool)
	dialled *dialled
	timeout time.Duration // of a request
	muted   atomic.Bool
	told    Followers

	requests  *requests
	work      sync.WaitGroup
	closeOnce sync.Once
}

// Followers is told what followers have of this node's log while it leads. Its functions must not
// block.
type Followers struct {
	// Installed: a follower has installed the snapshot of an index, which took so long to send.
	Installed func(id raft.ServerID, index uint64, took time.Duration)
	// Stored: a follower has the log up to an index. They come in order, but for an index of 0, of
	// heartbeats.
	Stored func(id raft.ServerID, index uint64)
}

// errMuted is what a muted transport answers.
var errMuted = errors.New("muted: this node has given up leadership")

var (
	_ raft.Transport   = (*Raft)(nil)
	_ raft.WithPreVote = (*Raft)(nil)
	_ raft.WithClose   = (*Raft)(nil)
)

// Raft makes the transport of the Raft library over the Mux; call it once. Resolve tells a server's
// current address and may be nil or not know it: the address in Raft's configuration serves then.
// Timeout bounds each request (a snapshot's is scaled by its size).
func (m *Mux) Raft(resolve func(name string) (string, bool), timeout time.Duration, logger hclog.Logger) *Raft {
	nobody := Followers{Installed: func(raft.ServerID, uint64, time.Duration) {}, Stored: func(raft.ServerID, uint64) {}}
	conns := newDialled()
	inner := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:  stream{subListener: m.raft, mux: m, dialled: conns},
		MaxPool: raftConnections,
		Timeout: timeout,
		Logger:  logger,
	})
	t := &Raft{
		mux:              m,
		dialled:          conns,
		timeout:          timeout,
		told:             nobody,
		NetworkTransport: inner,
		requests:         newRequests(inner.Consumer()),
		resolve:          resolve,
	}
	t.work.Go(t.requests.run)
	return t
}

// AdvanceCommit tells Raft, which may be a follower, that the leader of a term has committed the
// entry at index, which must be of that same term. It does not block.
func (t *Raft) AdvanceCommit(term, index uint64) { t.requests.commits.advance(term, index) }

// Tell says who is told of followers; call it before Raft starts.
func (t *Raft) Tell(f Followers) { t.told = f }

// SetHeartbeatHandler installs nothing. With the library's fast path a heartbeat changes term and
// state on the transport's goroutine while the main loop writes as leader or grants a vote, and
// nodes come to commit different values at one index (hashicorp/raft#695).
func (t *Raft) SetHeartbeatHandler(func(raft.RPC)) {}

// Mute makes this node silent as a leader: it sends no heartbeats and no entries, so that the
// others elect another one. Votes and answers go on.
func (t *Raft) Mute(mute bool) { t.muted.Store(mute) }

// Abort breaks all connections to peers and lets no new ones be made, so that requests under way
// fail now: Raft's shutdown waits for them.
func (t *Raft) Abort() { t.dialled.abort() }

// Disconnect closes all connections from and to a peer that is a member no more. It is refused new
// ones in the handshake, if it may not come back.
func (t *Raft) Disconnect(name string) {
	t.dialled.disconnect(name)
	t.mux.Disconnect(name)
}

// Close ends the transport with its pooled connections, which the library's own Close leaves open.
func (t *Raft) Close() error {
	t.Abort()
	t.NetworkTransport.CloseStreams()
	err := t.NetworkTransport.Close()
	t.closeOnce.Do(func() { close(t.requests.done) })
	t.work.Wait()
	return err
}

// Lost tells of peers that had a connection to us which ended. Why, it does not say: see Refused.
func (t *Raft) Lost() <-chan string { return t.mux.lost }

// Refused reports whether the host of a peer says that nobody listens at the peer's address: its
// process has ended.
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

// target is the peer at its address. An address may be another's by the time that it's dialled:
// machines and containers that start again swap theirs. What that one answered would count for the
// peer, and a quorum would be fewer nodes than it should.
func (t *Raft) target(id raft.ServerID, known raft.ServerAddress) raft.ServerAddress {
	return raft.ServerAddress(id) + nameMark + t.addressOf(id, known)
}

// AppendEntriesPipeline implements raft.Transport.
func (t *Raft) AppendEntriesPipeline(id raft.ServerID, to raft.ServerAddress) (raft.AppendPipeline, error) {
	if t.muted.Load() {
		return nil, errMuted
	}
	pipeline, err := t.NetworkTransport.AppendEntriesPipeline(id, t.target(id, to))
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
	if err := t.NetworkTransport.AppendEntries(id, t.target(id, to), compared(req), resp); err != nil {
		return err
	}
	t.answered(id, req, resp)
	return nil
}

// shorten takes the entries from a request that are too many for one. The library looks into it
// afterwards for what it has sent.
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

// answered tells of what a follower has stored.
func (t *Raft) answered(id raft.ServerID, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) {
	if resp.Success {
		t.told.Stored(id, req.PrevLogEntry+uint64(len(req.Entries)))
	}
}

// compared is a request that tells of the leader's commit index as far as the entries that it
// sends, or compares, go. The library takes its commit index later than the end of its log, and its
// follower commits all that it has up to there: also what it has of a former leader, behind the
// entries that were compared. So two nodes would apply different entries at one index.
func compared(req *raft.AppendEntriesRequest) *raft.AppendEntriesRequest {
	last := req.PrevLogEntry + uint64(len(req.Entries))
	if req.LeaderCommitIndex <= last {
		return req
	}
	bounded := *req
	bounded.LeaderCommitIndex = last
	return &bounded
}

// again repeats a question as often as connections may be idle that died with the peer's former
// process: a vote that is not asked for is a vote lost, and costs an election timeout. Each of
// these questions may be asked twice.
func (t *Raft) again(ask func() error) error {
	deadline := time.Now().Add(t.timeout)
	err := ask()
	for range raftConnections {
		_, undialled := errors.AsType[*undialled](err)
		if err == nil || undialled || !time.Now().Before(deadline) {
			break
		}
		err = ask()
	}
	return err
}

// RequestVote implements raft.Transport.
func (t *Raft) RequestVote(id raft.ServerID, to raft.ServerAddress, req *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	return t.again(func() error { return t.NetworkTransport.RequestVote(id, t.target(id, to), req, resp) })
}

// RequestPreVote implements raft.WithPreVote.
func (t *Raft) RequestPreVote(id raft.ServerID, to raft.ServerAddress, req *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	return t.again(func() error { return t.NetworkTransport.RequestPreVote(id, t.target(id, to), req, resp) })
}

// InstallSnapshot implements raft.Transport.
func (t *Raft) InstallSnapshot(id raft.ServerID, to raft.ServerAddress, req *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	start := time.Now()
	if err := t.NetworkTransport.InstallSnapshot(id, t.target(id, to), req, resp, data); err != nil {
		return err
	}
	if resp.Success {
		t.told.Installed(id, req.LastLogIndex, time.Since(start))
	}
	return nil
}

// TimeoutNow implements raft.Transport.
func (t *Raft) TimeoutNow(id raft.ServerID, to raft.ServerAddress, req *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	return t.again(func() error { return t.NetworkTransport.TimeoutNow(id, t.target(id, to), req, resp) })
}
