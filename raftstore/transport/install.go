package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/snapshot"
)

const (
	// installSuffix follows the address of a peer in the library's request for a connection on
	// which it installs a snapshot.
	installSuffix = nameSeparator + "install"
	// receivedMark begins the field Peers of a request to install a snapshot whose content was
	// transferred before. The snapshot's checksum follows. The library ignores this field in the
	// requests of its present version.
	receivedMark = "quorate received "
)

// ErrEarlierBuild is returned by a SnapshotSender about a follower whose build receives the content
// of a snapshot only with the request to install it.
var ErrEarlierBuild = errors.New("the follower's build does not know transfers of snapshots")

// SnapshotSender transfers the content of snapshots before the library's request to install them.
type SnapshotSender interface {
	// Send returns nil once the follower holds all of the content.
	Send(ctx context.Context, snapshot Outgoing) error
	// Limit returns a reader that reads as fast as this node may send snapshots.
	Limit(ctx context.Context, from io.Reader) io.Reader
}

// Outgoing is a snapshot that the leader sends to a follower.
type Outgoing struct {
	Follower string
	Address  func() string // where the follower listens now
	Term     uint64        // of the leader
	Snapshot snapshot.Reading
}

// SetSender sets what transfers snapshots. Without a sender, or to a follower of an earlier build,
// the library's request carries the content.
func (t *Raft) SetSender(s SnapshotSender) { t.installs.sender.Store(&s) }

// SetClaim sets the function that reserves content that this node has received, for the library's
// next snapshot of that index and term. It must not block. It returns an error if this node does
// not hold that content.
func (t *Raft) SetClaim(claim func(snapshot.Content) error) { t.requests.claim.Store(&claim) }

// InstallSnapshot implements raft.Transport. It first transfers the content, if the follower knows
// such transfers. The library's timeout then covers only the installation; otherwise it begins
// again whenever some of the content has been sent.
func (t *Raft) InstallSnapshot(id raft.ServerID, to raft.ServerAddress, req *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	start := time.Now()
	ctx, end := t.installs.begin(t.dialled.ctx, id)
	defer end()
	if sender := t.installs.sender.Load(); sender != nil {
		sent, err := t.transfer(ctx, *sender, id, to, req, data)
		switch {
		case err != nil:
			return err
		case sent != nil:
			req, data = sent, bytes.NewReader(nil)
		default:
			data = (*sender).Limit(ctx, data)
		}
	}
	if err := t.NetworkTransport.InstallSnapshot(id, t.target(id, to)+installSuffix, req, resp, data); err != nil {
		return err
	}
	if resp.Success {
		t.followers.Installed(id, req.LastLogIndex, time.Since(start))
	}
	return nil
}

// transfer returns the request to send to a follower that holds the content, nil if the content
// must go with the request.
func (t *Raft) transfer(ctx context.Context, sender SnapshotSender, id raft.ServerID, to raft.ServerAddress,
	req *raft.InstallSnapshotRequest, data io.Reader,
) (*raft.InstallSnapshotRequest, error) {
	reading, ok := data.(snapshot.Reading)
	if !ok || req.SnapshotVersion == 0 { // version 0 uses the field that is marked
		return nil, nil
	}
	err := sender.Send(ctx, Outgoing{
		Follower: string(id), Address: func() string { return string(t.addressOf(id, to)) }, Term: req.Term, Snapshot: reading,
	})
	if errors.Is(err, ErrEarlierBuild) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	marked := *req
	marked.Peers = binary.BigEndian.AppendUint64([]byte(receivedMark), reading.Content().Checksum)
	return &marked, nil
}

// takeReceived handles a request to install a snapshot. If its content was transferred before, the
// library gets an empty reader, and this node's snapshot store has the content. It returns false if
// this node does not hold the content, and has responded so.
func (r *requests) takeReceived(req *raft.InstallSnapshotRequest, rpc *raft.RPC) bool {
	sum, marked := bytes.CutPrefix(req.Peers, []byte(receivedMark))
	if !marked || len(sum) != 8 {
		return true
	}
	err := snapshot.ErrNotReceived
	if claim := r.claim.Load(); claim != nil {
		err = (*claim)(snapshot.Content{
			Index: req.LastLogIndex, Term: req.LastLogTerm, Size: req.Size, Checksum: binary.BigEndian.Uint64(sum),
		})
	}
	if err != nil {
		rpc.Respond(&raft.InstallSnapshotResponse{}, err)
		return false
	}
	rpc.Reader = struct{ io.Reader }{bytes.NewReader(nil)}
	return true
}

// installs are the snapshots that this node is sending, one to a follower.
type installs struct {
	sender atomic.Pointer[SnapshotSender]

	mu      sync.Mutex
	running map[raft.ServerID]*install
}

// install is one of them.
type install struct{ cancel context.CancelFunc }

// begin returns a context for a snapshot to a follower, and ends that of a former one: the library
// starts another if the follower was removed and added again, or if this node leads again. The
// caller must call end.
func (in *installs) begin(ctx context.Context, to raft.ServerID) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	this := &install{cancel}
	in.mu.Lock()
	defer in.mu.Unlock()
	if former := in.running[to]; former != nil {
		former.cancel()
	}
	if in.running == nil {
		in.running = make(map[raft.ServerID]*install)
	}
	in.running[to] = this
	return ctx, func() {
		cancel()
		in.mu.Lock()
		defer in.mu.Unlock()
		if in.running[to] == this {
			delete(in.running, to)
		}
	}
}

// cancel ends the snapshot to a follower, if there is one.
func (in *installs) cancel(to raft.ServerID) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if running := in.running[to]; running != nil {
		running.cancel()
	}
}

// installConn is a connection for one snapshot. The library allows the whole request a time in
// proportion to the size of the snapshot, which a low rate may exceed. installConn allows as much
// from the last byte sent on.
type installConn struct {
	net.Conn
	allowed time.Duration
}

// SetDeadline implements net.Conn. The library calls it once, before the request.
func (c *installConn) SetDeadline(deadline time.Time) error {
	c.allowed = time.Until(deadline)
	return c.Conn.SetDeadline(deadline)
}

// Write implements net.Conn.
func (c *installConn) Write(b []byte) (int, error) {
	if c.allowed > 0 {
		if err := c.Conn.SetDeadline(time.Now().Add(c.allowed)); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(b)
}
