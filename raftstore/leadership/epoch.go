package leadership

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
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
	electing  sync.Mutex             // held while the only voter campaigns
	outage    atomic.Pointer[outage] // nil while this node knows a leader
	metrics   *metrics
}

// Config configures a Leadership; all fields are required.
type Config struct {
	Tracker   *Tracker
	Raft      *raft.Raft
	Transport *transport.Raft
	Members   *membership.Members
	Lifecycle *lifecycle.Lifecycle
	// Timeout is Raft's election timeout.
	Timeout time.Duration
	// LeaderWait is how long requests wait for a leader.
	LeaderWait time.Duration
	// Probe returns nil if a server responds.
	Probe func(ctx context.Context, server raft.Server) error
	// Applied returns the index of the last entry that this node has applied.
	Applied    func() uint64
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// New returns the Leadership of a node whose Raft is running.
func New(cfg Config) *Leadership {
	return &Leadership{
		Tracker: cfg.Tracker, cfg: cfg, transfers: transfers{grace: TransferGrace(cfg.Timeout)},
		metrics: newMetrics(cfg.Registerer),
	}
}

// TermOf returns the term of the committed entry at index if this node appended it as the leader of
// epoch e. Otherwise, or if it can't know, it returns 0. The caller must have learned the index
// after it looked up e. Terms only increase, so if e's term is still current, it was current when
// the caller learned the index.
func (l *Leadership) TermOf(e *Epoch, index uint64) uint64 {
	if e == nil || !e.owns(index) || l.cfg.Raft.CurrentTerm() != e.term {
		return 0
	}
	return e.term
}

// Follow turns Raft's signals into epochs until ctx ends. commitInit must propose an entry that
// changes nothing, and return nil once this node has applied it.
//
// Follow takes a signal only as a hint that something may have changed, and reads the state from
// Raft. Because a node leads a term at most once, Follow is correct even if it misses changes or
// receives their signals in another order (hashicorp/nomad#4749).
func (l *Leadership) Follow(ctx context.Context, commitInit func(context.Context) error) error {
	observed := make(chan raft.Observation, 16)
	observer := raft.NewObserver(observed, false, func(o *raft.Observation) bool {
		_, leader := o.Data.(raft.LeaderObservation)
		return leader
	})
	l.cfg.Raft.RegisterObserver(observer)
	defer l.cfg.Raft.DeregisterObserver(observer)
	l.leaderChanged() // Raft may have found a leader before Follow began to observe it
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
			l.leaderChanged()
		}
	}
	return nil
}

// updateEpoch ends the current epoch if Raft no longer leads its term. If Raft leads a new term,
// updateEpoch begins and returns its epoch; otherwise it returns nil.
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

// leadingTerm returns the term that this node leads. The library has no atomic read of state and
// term, so leadingTerm accepts a term only if it is the same before and after it reads the state.
func (l *Leadership) leadingTerm() (term uint64, leading bool) {
	for {
		term := l.cfg.Raft.CurrentTerm()
		leading := l.cfg.Raft.State() == raft.Leader
		if l.cfg.Raft.CurrentTerm() == term {
			return term, leading
		}
	}
}

// prepare commits an entry of the epoch's own term, and retries until it succeeds or the epoch
// ends. Before that, a leader does not know what its predecessors committed, and must confirm no
// read. The entry is an Init, which sets the cluster's id the first time and changes nothing later.
// Unlike the library's barrier, it reaches the state machine of every node, so followers come to
// apply every index confirmed in this term.
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
