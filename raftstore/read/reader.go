package read

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"quorate/proto/peerpb"
	"quorate/raftstore/failure"
	"quorate/raftstore/forward"
	"quorate/raftstore/leadership"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/membership"
	"quorate/raftstore/readindex"
	"quorate/raftstore/state"
	"quorate/raftstore/transport"
)

// Freshness specifies how fresh a state must be.
type Freshness struct {
	index  uint64
	quorum bool
}

// Cached requests the present state of this node, without waiting.
func Cached() Freshness { return Freshness{} }

// AtLeast requests a state that has applied the log up to index.
func AtLeast(index uint64) Freshness { return Freshness{index: index} }

// Quorum requests a linearizable read: a state with every write that any node acknowledged before
// the read began.
func Quorum() Freshness { return Freshness{quorum: true} }

// Reader serves states with the requested freshness. All methods are safe for concurrent use.
type Reader struct {
	cfg           Config
	local, remote *readindex.Batcher
	lastConfirmed atomic.Pointer[string] // the peer that confirmed leadership last
	metrics       *readerMetrics
}

// Config configures a Reader; all fields are required.
type Config struct {
	Raft       *raft.Raft
	Transport  *transport.Raft
	Leadership *leadership.Leadership
	Members    *membership.Members
	Lifecycle  *lifecycle.Lifecycle
	Peers      *forward.Client
	Applied    *readindex.Applied
	// Root returns the state as of the last applied batch.
	Root func() *state.Root
	// ElectionTimeout is that of Raft. LeaderWait is how long a request waits for a leader.
	ElectionTimeout, LeaderWait time.Duration
	Registerer                  prometheus.Registerer
}

// New returns a Reader, whose batchers Run drives.
func New(cfg Config) *Reader {
	m := newReaderMetrics(cfg.Registerer)
	r := &Reader{cfg: cfg, metrics: m}
	r.local = readindex.NewBatcher(r.localIndex, cfg.ElectionTimeout, m.confirmed("leader"))
	r.remote = readindex.NewBatcher(r.remoteIndex, cfg.ElectionTimeout, m.confirmed("follower"))
	return r
}

// Run confirms read indexes until ctx ends.
func (r *Reader) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.local.Run(ctx) })
	group.Go(func() error { return r.remote.Run(ctx) })
	return group.Wait()
}

// View returns a state with freshness f. With Cached it never waits. With AtLeast it waits until
// this node has applied the index, and returns a *failure.Future if ctx ends first. With Quorum it
// returns failure.ErrUnavailable if the read is not confirmed and applied within Config.LeaderWait,
// at once a *failure.NoLeaderError if no leader has been known for that long, and
// failure.ErrTimeout if ctx ends first. A wait that the end of the store interrupts returns
// failure.ErrClosed.
func (r *Reader) View(ctx context.Context, f Freshness) (*state.Root, error) {
	switch {
	case f.quorum:
		if err := r.CatchUp(ctx); err != nil {
			return nil, err
		}
	case f.index > r.cfg.Applied.Index():
		if err := r.Await(ctx, f.index); errors.Is(err, failure.ErrClosed) {
			return nil, err
		} else if err != nil {
			return nil, &failure.Future{Want: f.index, Have: r.cfg.Applied.Index()}
		}
	}
	return r.cfg.Root(), nil
}

// CatchUp waits until this node has applied every entry that any node had committed when CatchUp
// was called. Errors are those of View with Quorum.
func (r *Reader) CatchUp(ctx context.Context) error {
	// gofail: var breakReadIndex struct{}
	// return nil

	if e, ok := r.aloneAndReady(); ok {
		if index, err := r.indexAlone(e); err == nil && index <= r.cfg.Applied.Index() {
			return nil
		}
	}
	start := time.Now()
	deadline := start.Add(r.cfg.LeaderWait)
	index, err := r.readIndex(ctx, deadline)
	if err == nil && index > r.cfg.Applied.Index() {
		bounded, cancel := context.WithDeadline(ctx, deadline) // most reads need no such context
		defer cancel()
		err = r.Await(bounded, index)
	}
	r.metrics.waits.Observe(time.Since(start).Seconds())
	return failureOf(ctx, err)
}

// failureOf returns the error of a read with context ctx: failure.ErrTimeout if ctx has ended,
// failure.ErrUnavailable if the read could not be confirmed.
func failureOf(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, failure.ErrClosed):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", failure.ErrTimeout, err)
	default:
		return fmt.Errorf("%w: %w", failure.ErrUnavailable, err)
	}
}

// Await waits until this node has applied index.
func (r *Reader) Await(ctx context.Context, index uint64) error {
	err := r.cfg.Applied.Await(ctx, index)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, readindex.ErrStopped):
		return failure.ErrClosed
	default:
		return fmt.Errorf("wait for index %d: %w", index, err)
	}
}

// readIndex requests a confirmed index from the leader, which may be this node, until it gets one,
// deadline passes or ctx ends.
func (r *Reader) readIndex(ctx context.Context, deadline time.Time) (uint64, error) {
	for {
		if err := r.cfg.Lifecycle.Check(); err != nil {
			return 0, err
		}
		if err := r.cfg.Leadership.Refuse(); err != nil {
			return 0, err
		}
		e, changed := r.cfg.Leadership.Current()
		batcher := r.remote
		if e != nil {
			batcher = r.local
		}
		index, err := batcher.IndexWithin(ctx, time.Until(deadline))
		if err == nil || ctx.Err() != nil {
			return index, err
		}
		if errors.Is(err, readindex.ErrStopped) {
			return 0, failure.ErrClosed
		}
		lifecycle.Pause(ctx, changed, min(leadership.RetryInterval, time.Until(deadline)))
		if ctx.Err() != nil || time.Now().After(deadline) {
			return 0, err // more specific than the end of ctx
		}
	}
}

// remoteIndex requests a read index from the leader on behalf of all waiting readers of this node.
func (r *Reader) remoteIndex(ctx context.Context) (uint64, error) {
	name, address, known := r.cfg.Members.Leader()
	switch {
	case !known:
		return 0, errors.New("no leader known")
	case name == r.cfg.Members.Name():
		return r.Confirm(ctx)
	}
	resp, err := r.cfg.Peers.ReadIndex(ctx, name, address, r.cfg.Members.ClusterID(), r.cfg.Raft.CurrentTerm())
	if err != nil {
		return 0, err
	}
	if resp.GetNotLeader() {
		return 0, fmt.Errorf("%s: %w", name, failure.ErrNotLeader)
	}
	if resp.GetMessage() != "" {
		return 0, fmt.Errorf("leader %s: %s", name, resp.GetMessage())
	}
	r.LearnCommit(resp.GetTerm(), resp.GetIndex())
	return resp.GetIndex(), nil
}

// LearnCommit tells Raft that the leader's entry at index is committed, so that this node applies
// it without waiting for the leader's next append. term is the term of the entry. A leader sends 0
// if an earlier leader may have appended the entry; LearnCommit then does nothing. It also does
// nothing if this node has applied the index already.
func (r *Reader) LearnCommit(term, index uint64) {
	if term != 0 && index > r.cfg.Applied.Index() {
		r.cfg.Transport.AdvanceCommit(term, index)
	}
}

// Confirm returns a read index of this node as leader. Concurrent callers share it.
func (r *Reader) Confirm(ctx context.Context) (uint64, error) {
	if e, ok := r.aloneAndReady(); ok {
		return r.indexAlone(e)
	}
	return r.local.Index(ctx)
}

// aloneAndReady returns the current epoch if this node leads, is ready and is the only voter.
func (r *Reader) aloneAndReady() (*leadership.Epoch, bool) {
	e, _ := r.cfg.Leadership.Current()
	if e == nil || !e.IsReady() {
		return nil, false
	}
	return e, r.cfg.Members.Alone()
}

// indexAlone returns the read index of a cluster of one voter. No peer has to confirm it, but the
// order of the steps is that of localIndex.
func (r *Reader) indexAlone(e *leadership.Epoch) (uint64, error) {
	index := r.cfg.Raft.CommitIndex()
	if r.cfg.Raft.CurrentTerm() != e.Term() {
		return 0, failure.ErrNotLeader
	}
	return index, nil
}

// Serve confirms for a peer's readers that this node leads. The peer vouches with its own term.
func (r *Reader) Serve(ctx context.Context, req *peerpb.ReadIndexRequest) *peerpb.ReadIndexResponse {
	leader, _, _ := r.cfg.Members.Leader()
	e, _ := r.cfg.Leadership.Current()
	if e == nil || req.GetTerm() > e.Term() {
		return &peerpb.ReadIndexResponse{NotLeader: true, Leader: leader}
	}
	index, err := r.confirmFor(ctx, e)
	switch {
	case errors.Is(err, failure.ErrNotLeader):
		return &peerpb.ReadIndexResponse{NotLeader: true, Leader: leader}
	case err != nil:
		return &peerpb.ReadIndexResponse{Leader: leader, Message: err.Error()}
	}
	return &peerpb.ReadIndexResponse{Index: index, Leader: leader, Term: r.cfg.Leadership.TermOf(e, index)}
}

// confirmFor counts the calling peer as one confirmation if that completes a quorum. Otherwise the
// peer's request joins the local readers.
func (r *Reader) confirmFor(ctx context.Context, e *leadership.Epoch) (uint64, error) {
	others, voter := r.cfg.Members.OtherVoters()
	if voter && len(others) <= 2 {
		caller, err := transport.PeerName(ctx)
		if err != nil {
			return 0, err
		}
		return r.indexOf(ctx, e, caller)
	}
	return r.local.Index(ctx)
}
