package leadership

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/lifecycle"
	"quorate/raftstore/membership"
	"quorate/raftstore/transport"
)

// Leadership gains, loses and transfers this node's leadership. All methods are safe for concurrent
// use.
type Leadership struct {
	*Tracker

	cfg       Config
	transfers transfers
	electing  sync.Mutex // held while the only voter campaigns
	metrics   *metrics
}

// Config is what a Leadership needs; all fields are required.
type Config struct {
	Tracker   *Tracker
	Raft      *raft.Raft
	Transport *transport.Raft
	Members   *membership.Members
	Lifecycle *lifecycle.Lifecycle
	// Timeout is Raft's election timeout.
	Timeout time.Duration
	// Applied returns the index of the last entry that this node has applied.
	Applied    func() uint64
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// New returns the leadership of a node whose Raft runs.
func New(cfg Config) *Leadership {
	return &Leadership{
		Tracker: cfg.Tracker, cfg: cfg, transfers: transfers{grace: TransferGrace(cfg.Timeout)},
		metrics: newMetrics(cfg.Registerer),
	}
}

// TermOf returns the term of the committed entry at index if the entry is e's, and 0 otherwise. The
// caller must have learnt the index after it looked e up. Terms only grow: if e's term is still
// current, it was when the caller learnt the index.
func (l *Leadership) TermOf(e *Epoch, index uint64) uint64 {
	if e == nil || !e.owns(index) || l.cfg.Raft.CurrentTerm() != e.term {
		return 0
	}
	return e.term
}

// Follow turns Raft's signals into epochs until ctx ends. CommitInit proposes an entry that changes
// nothing, and returns nil when this node has applied it.
//
// A signal means only that something may have changed. Follow reads the state from Raft, and a node
// leads a term at most once, so changes that are faster than Follow, in either order, can't mislead
// it (hashicorp/nomad#4749).
func (l *Leadership) Follow(ctx context.Context, commitInit func(context.Context) error) error {
	observed := make(chan raft.Observation, 16)
	observer := raft.NewObserver(observed, false, func(o *raft.Observation) bool {
		_, leader := o.Data.(raft.LeaderObservation)
		return leader
	})
	l.cfg.Raft.RegisterObserver(observer)
	defer l.cfg.Raft.DeregisterObserver(observer)
	l.notify() // Raft has run since Open, and may have found a leader before it was observed
	defer l.set(nil)

	var epochs sync.WaitGroup
	defer epochs.Wait()
	for ctx.Err() == nil {
		if e := l.updateEpoch(ctx); e != nil {
			epochs.Go(func() { l.prepare(e, commitInit) })
		}
		select {
		case <-ctx.Done():
		case <-l.cfg.Raft.LeaderCh():
		case <-observed:
			l.notify()
		}
	}
	return nil
}

// updateEpoch ends the epoch that Raft no longer leads, and begins and returns the one that it
// leads now, nil if there is no new one.
func (l *Leadership) updateEpoch(ctx context.Context) *Epoch {
	term, leading := l.leadingTerm()
	current, _ := l.Current()
	switch {
	case !leading && current != nil:
		l.cfg.Logger.Info("leadership lost", "term", current.term)
		l.metrics.changes.Inc()
		l.set(nil)
	case leading && (current == nil || current.term != term):
		l.cfg.Logger.Info("leadership gained", "term", term)
		l.metrics.changes.Inc()
		e := NewEpoch(ctx, term)
		l.set(e)
		return e
	}
	return nil
}

// leadingTerm returns the term that this node leads. State and term are two reads: a term that is
// the same before and after the state was read belongs to it.
func (l *Leadership) leadingTerm() (term uint64, leading bool) {
	for {
		term := l.cfg.Raft.CurrentTerm()
		leading := l.cfg.Raft.State() == raft.Leader
		if l.cfg.Raft.CurrentTerm() == term {
			return term, leading
		}
	}
}

// prepare commits an entry of the epoch's own term: before that a leader does not know what its
// predecessors committed, and must confirm no read. The entry is Init, which names the cluster the
// first time and changes nothing later. Unlike Raft's own barrier it reaches every state machine,
// so followers reach every index confirmed in this term.
func (l *Leadership) prepare(e *Epoch, commitInit func(context.Context) error) {
	// gofail: var leaderBefore struct{}
	for e.ctx.Err() == nil {
		err := commitInit(e.ctx)
		if err == nil {
			// gofail: var leaderAfter struct{}
			e.first = l.cfg.Applied()
			close(e.ready)
			l.notify()
			l.cfg.Logger.Info("leader is ready", "term", e.term, "index", e.first)
			return
		}
		l.cfg.Logger.Debug("leader not ready yet", "term", e.term, "error", err)
		lifecycle.Pause(e.ctx, nil, RetryInterval)
	}
}
