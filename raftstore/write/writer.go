package write

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/proto/peerpb"
	"quorate/raftstore/diskguard"
	"quorate/raftstore/forward"
	"quorate/raftstore/leadership"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/membership"
	"quorate/raftstore/read"
	"quorate/raftstore/state"
)

// Writer proposes writes, on this node or through the leader. All methods are safe for concurrent
// use.
type Writer struct {
	cfg     Config
	latches *latches
	slots   chan struct{} // holds one value for each proposal that Raft has or will get with its group
	groups  *groupCommit
	proof   leadershipProof
	quotas  *quotas
	metrics *metrics
}

// Config configures a Writer; all fields are required.
type Config struct {
	Raft       *raft.Raft
	Leadership *leadership.Leadership
	Members    *membership.Members
	Reader     *read.Reader
	Shortage   *diskguard.Shortage
	Lifecycle  *lifecycle.Lifecycle
	Peers      *forward.Client
	// Root returns the state as of the last applied batch.
	Root func() *state.Root
	// AppendTime returns the usual time of this node's appends to its log, 0 if that is unknown.
	AppendTime func() time.Duration
	// LeaderWait is how long a write waits for a leader.
	LeaderWait time.Duration
	// Quota bounds what the state holds; the zero value is no bound.
	Quota      Quota
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// New returns a Writer.
func New(cfg Config) *Writer {
	m := newMetrics(cfg.Registerer)
	groups := newGroupCommit(cfg.Members.Alone, m.observeGroup, cfg.AppendTime)
	registerPending(cfg.Registerer, groups.pending)
	return &Writer{
		cfg: cfg, latches: newLatches(m.latches), slots: make(chan struct{}, maxProposals), groups: groups,
		quotas: newQuotas(cfg.Quota, m.quotas), metrics: m,
	}
}

// Create stores an object and returns it as stored. Errors: *state.Exists and *state.GuardFailed if
// the write was refused; failure.ErrUnavailable, ErrTooLarge, ErrClosed, *FullError and *QuotaError
// if certainly nothing was written; failure.ErrUnknownOutcome if the write may still be applied.
// When Create returns, this node has applied the write, so that a cached read on this node sees it
// (N5), unless ctx ended first.
func (w *Writer) Create(ctx context.Context, c Create) (*state.Object, error) {
	cmd, err := c.command()
	if err != nil {
		return nil, err
	}
	index, err := w.write(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	return w.written(c.Object, c.Key, index, index), nil
}

// Update replaces an object and returns it as stored. Errors are those of Create, *state.NotFound,
// *state.Conflict and *state.UIDMismatch.
func (w *Writer) Update(ctx context.Context, u Update) (*state.Object, error) {
	cmd, err := u.command()
	if err != nil {
		return nil, err
	}
	index, err := w.write(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("update: %w", err)
	}
	return w.written(u.Object, u.Key, index, u.Previous.Created), nil
}

// Delete removes an object and returns its final state, with the index of the deletion as version.
// Errors are those of Update.
func (w *Writer) Delete(ctx context.Context, d Delete) (*state.Object, error) {
	cmd, err := d.command()
	if err != nil {
		return nil, err
	}
	index, err := w.write(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("delete: %w", err)
	}
	return stored(d.final(), d.Key, index, d.Previous.Created), nil
}

// Pin makes every node retain the state at the index that it returns. Errors are those of Create.
func (w *Writer) Pin(ctx context.Context) (index uint64, err error) {
	c, err := pinCommand()
	if err != nil {
		return 0, err
	}
	return w.write(ctx, c)
}

// written returns the object that the entry at index has stored: the state's, unless this node has
// not applied the entry, or a later one that concerns the object, too.
func (w *Writer) written(o *state.Object, key state.Key, index, created uint64) *state.Object {
	if now := w.cfg.Root().Get(key); now != nil && now.Version == index {
		return now
	}
	return stored(o, key, index, created)
}

// stored returns the object that the entry at index stores, made from the entry's.
func stored(o *state.Object, key state.Key, index, created uint64) *state.Object {
	made := *o
	made.Key, made.Version, made.Created = key, index, created
	made.Value = state.Splice(o.Value, o.VersionOffset, index)
	return &made
}

// write returns the index of the command's entry, after it has waited for this node to apply the
// entry. If the command was certainly not applied, write tries again with whichever node then
// leads, until LeaderWait has passed or ctx ends, unless a retry would fail for the same reason
// (result.final). It retries nothing else.
func (w *Writer) write(ctx context.Context, c *command) (uint64, error) {
	giveUp := time.Now().Add(w.cfg.LeaderWait)
	for {
		_, changed := w.cfg.Leadership.Current()
		r := w.attempt(ctx, c)
		switch r.outcome {
		case peerpb.Outcome_APPLIED, peerpb.Outcome_REFUSED:
			w.metrics.outcome(r)
			return r.index, w.settle(ctx, r)
		case peerpb.Outcome_UNKNOWN:
			// gofail: var breakApplyTwice struct{}
			// c = w.anew(ctx, c)
			// continue

			w.metrics.outcome(r)
			return 0, r.asError()
		}
		if r.final() || ctx.Err() != nil || time.Now().After(giveUp) {
			w.metrics.outcome(r)
			return 0, r.asError()
		}
		w.metrics.retries.Inc()
		lifecycle.Pause(ctx, changed, leadership.RetryInterval)
	}
}

// settle waits until this node has applied the outcome's index, so that a cached read after the
// response sees the write. The outcome does not change if the wait fails.
func (w *Writer) settle(ctx context.Context, r result) error {
	if err := w.cfg.Reader.Await(ctx, r.index); err != nil {
		w.metrics.unsettled.Inc()
	}
	return r.asError()
}

// attempt makes one attempt to have the leader propose the command.
func (w *Writer) attempt(ctx context.Context, c *command) result {
	if err := w.cfg.Lifecycle.Check(); err != nil {
		return notApplied(err)
	}
	name, address, known := w.cfg.Members.Leader()
	switch {
	case !known:
		if err := w.cfg.Leadership.Refuse(); err != nil {
			return notApplied(err)
		}
		return notLeader(errors.New("no leader known"))
	case name == w.cfg.Members.Name():
		return w.propose(ctx, c)
	default:
		return w.forward(ctx, name, address, c)
	}
}

// forward sends the command to the leader's node.
func (w *Writer) forward(ctx context.Context, name, address string, c *command) result {
	// gofail: var forwardBefore struct{}
	start := time.Now()
	resp, err := w.cfg.Peers.Write(ctx, name, address, &peerpb.WriteRequest{
		Entry: c.data, ClusterId: w.cfg.Members.ClusterID(), Frees: c.frees, Client: c.client,
	})
	// gofail: var forwardAfter struct{}
	w.metrics.forwardSeconds.Observe(time.Since(start).Seconds())
	switch {
	case errors.Is(err, forward.ErrNotSent):
		return notApplied(err)
	case err != nil:
		return unknown(err)
	}
	w.cfg.Reader.LearnCommit(resp.GetTerm(), resp.GetIndex())
	return c.outcomeOf(name, resp)
}

// Serve proposes a write that a peer has encoded, with this node as leader.
func (w *Writer) Serve(ctx context.Context, req *peerpb.WriteRequest) *peerpb.WriteResponse {
	c, err := decode(req.GetEntry())
	if err != nil {
		return w.respond(notApplied(err))
	}
	c.frees, c.client = req.GetFrees(), req.GetClient()
	e, _ := w.cfg.Leadership.Current()
	r := w.propose(ctx, c)
	// gofail: var forwardApplied struct{}
	resp := w.respond(r)
	resp.Term = w.cfg.Leadership.TermOf(e, r.index)
	return resp
}

// respond returns the response to a peer that forwarded a write.
func (w *Writer) respond(r result) *peerpb.WriteResponse {
	resp := r.response()
	if r.outcome == peerpb.Outcome_NOT_LEADER {
		resp.Leader, _, _ = w.cfg.Members.Leader()
	}
	return resp
}

// NotApplied returns the response for a peer's write that this node did not try to propose.
func NotApplied(err error) *peerpb.WriteResponse { return notApplied(err).response() }

// Proposals returns the number of proposals that Raft has.
func (w *Writer) Proposals() int { return len(w.slots) }

// Drain waits until Raft has completed all proposals or ctx ends, and prevents further ones.
func (w *Writer) Drain(ctx context.Context) {
	for range cap(w.slots) {
		select {
		case w.slots <- struct{}{}:
		case <-ctx.Done():
			w.cfg.Logger.Warn("closing with pending proposals", "count", len(w.slots))
			return
		}
	}
}
