package read

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/failure"
	"quorate/raftstore/readindex"
	"quorate/raftstore/state"
)

// PinnedFor is the time for which all nodes retain a state after Pin has returned it, unless they
// reach a bound on number or memory first.
const PinnedFor = 10 * time.Minute

// Pins makes all nodes retain states on request. All methods are safe for concurrent use.
type Pins struct {
	cfg     PinConfig
	batcher *readindex.Batcher // callers share pins as readers share read indexes
	metrics *pinMetrics
}

// PinConfig configures Pins; all fields are required.
type PinConfig struct {
	Reader   *Reader
	Retained *Retained
	// Propose proposes an entry that makes every node retain the state at its index, and returns
	// the index.
	Propose    func(ctx context.Context) (index uint64, err error)
	Registerer prometheus.Registerer
}

// NewPins returns Pins, whose batcher Run drives.
func NewPins(cfg PinConfig) *Pins {
	m := newPinMetrics(cfg.Registerer)
	p := &Pins{cfg: cfg, metrics: m}
	p.batcher = readindex.NewBatcher(p.index, cfg.Reader.cfg.LeaderWait, m.shared)
	return p
}

// Run proposes pins until ctx ends.
func (p *Pins) Run(ctx context.Context) error { return p.batcher.Run(ctx) }

// Pin returns a state that every node retains under its index, for PinnedFor or until the node
// reaches a bound on number or memory. The state has every write that any node acknowledged before
// the call. Errors are those of View with Quorum. Concurrent callers share one log entry. If
// nothing has been written since the last pin and that pin is less than sharedFor old, Pin reuses
// it and writes no entry.
func (p *Pins) Pin(ctx context.Context) (*state.Root, error) {
	bounded, cancel := context.WithTimeout(ctx, p.cfg.Reader.cfg.LeaderWait)
	defer cancel()
	index, err := p.batcher.Index(bounded)
	if err == nil {
		err = p.cfg.Reader.Await(bounded, index)
	}
	if err != nil {
		p.metrics.pins.WithLabelValues("failed").Inc()
		return nil, failureOf(ctx, err)
	}
	if root := p.cfg.Retained.Get(index); root != nil {
		return root, nil
	}
	// This node has since installed another node's snapshot, or reached a bound after many writes.
	return nil, fmt.Errorf("%w: the state of pin %d is no longer retained", failure.ErrUnavailable, index)
}

// index returns the index of a pin that was proposed after index was called, or of one that was
// confirmed after that to have the newest state.
func (p *Pins) index(ctx context.Context) (uint64, error) {
	r := p.cfg.Reader
	if _, ok := p.cfg.Retained.sharedPin(r.cfg.Root()); ok {
		index, err := r.readIndex(ctx, time.Now().Add(r.cfg.LeaderWait))
		if err == nil {
			err = r.Await(ctx, index)
		}
		if err != nil {
			return 0, err
		}
		if index, ok := p.cfg.Retained.sharedPin(r.cfg.Root()); ok {
			p.metrics.pins.WithLabelValues("reused").Inc()
			return index, nil
		}
	}
	for ctx.Err() == nil {
		index, err := p.cfg.Propose(ctx)
		if errors.Is(err, failure.ErrUnknownOutcome) {
			continue // a second pin does no harm
		}
		if err == nil {
			p.metrics.pins.WithLabelValues("proposed").Inc()
		}
		return index, err
	}
	return 0, ctx.Err()
}
