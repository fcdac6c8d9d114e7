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

// PinnedFor is how long all nodes retain a state from the moment on that Pin returned it, unless
// they reach a bound on number or memory before.
const PinnedFor = 10 * time.Minute

// Pins makes all nodes retain states. All methods are safe for concurrent use.
type Pins struct {
	cfg     PinConfig
	batcher *readindex.Batcher // callers share pins as readers share read indexes
	metrics *pinMetrics
}

// PinConfig is what Pins needs; all fields are required.
type PinConfig struct {
	Reader   *Reader
	Retained *Retained
	// Propose writes an entry that makes every node retain the state of its index, which it
	// returns.
	Propose    func(ctx context.Context) (index uint64, err error)
	Registerer prometheus.Registerer
}

// NewPins returns Pins, whose batcher Run drives.
func NewPins(cfg PinConfig) *Pins {
	m := newPinMetrics(cfg.Registerer)
	p := &Pins{cfg: cfg, metrics: m}
	p.batcher = readindex.NewBatcher(p.index, cfg.Reader.cfg.Patience, m.shared)
	return p
}

// Run proposes pins until ctx ends.
func (p *Pins) Run(ctx context.Context) error { return p.batcher.Run(ctx) }

// Pin returns a state that every node retains for PinnedFor, by its index. The state has every
// write that any node acknowledged before the call. Errors are View's for a Quorum read. Concurrent
// callers share one log entry, and none is written if nothing was since the last.
func (p *Pins) Pin(ctx context.Context) (*state.Root, error) {
	bounded, cancel := context.WithTimeout(ctx, p.cfg.Reader.cfg.Patience)
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
	// This node installed another node's snapshot over it, or many writes exceeded a bound.
	return nil, fmt.Errorf("%w: the state of pin %d is gone already", failure.ErrUnavailable, index)
}

// index returns the index of a pin that was proposed, or confirmed to be of the newest state, after
// index was called.
func (p *Pins) index(ctx context.Context) (uint64, error) {
	r := p.cfg.Reader
	if _, ok := p.cfg.Retained.sharedPin(r.cfg.Root()); ok {
		index, err := r.readIndex(ctx)
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
