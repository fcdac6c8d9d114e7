package raftstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
)

// retryPause is how long a node waits before it asks again what was refused for a passing reason, when nothing wakes it
// earlier.
const retryPause = 20 * time.Millisecond

// epoch is one time as leader: a term.
type epoch struct {
	term  uint64
	ready chan struct{} // closed when an entry of this term has been applied here
	first uint64        // an index from which on all entries are of this term; set before ready is closed
	ctx   context.Context
	end   context.CancelFunc
}

func (e *epoch) isReady() bool {
	select {
	case <-e.ready:
		return true
	default:
		return false
	}
}

// owns reports whether the entry at index is known to be of the epoch's term.
func (e *epoch) owns(index uint64) bool { return e.isReady() && index >= e.first }

// leadership is what this node knows of who leads. It holds the present epoch, and wakes who waits for any change.
type leadership struct {
	mu      sync.Mutex
	current *epoch        // nil while this node isn't leader
	changed chan struct{} // closed and replaced at each change
}

func newLeadership() *leadership { return &leadership{changed: make(chan struct{})} }

// look returns the present epoch, and a channel that closes when anything changes afterwards.
func (l *leadership) look() (*epoch, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current, l.changed
}

// set replaces the epoch, ending the one before.
func (l *leadership) set(e *epoch) {
	l.mu.Lock()
	before := l.current
	l.current = e
	l.mu.Unlock()
	if before != nil && before != e {
		before.end()
	}
	l.notify()
}

func (l *leadership) notify() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
}

// followLeadership turns Raft's signals into epochs until ctx ends. A signal says only that something may have changed; what
// is so is read from Raft, and a term is led at most once, so flips that come faster than we look, in either order, can't
// mislead (hashicorp/nomad#4749).
func (s *Store) followLeadership(ctx context.Context) error {
	observed := make(chan raft.Observation, 16)
	observer := raft.NewObserver(observed, false, func(o *raft.Observation) bool {
		_, leader := o.Data.(raft.LeaderObservation)
		return leader
	})
	s.raft.RegisterObserver(observer)
	defer s.raft.DeregisterObserver(observer)
	s.leaders.notify() // of what was not observed: Raft runs since Open, and may have found a leader
	defer s.leaders.set(nil)

	var epochs sync.WaitGroup
	defer epochs.Wait()
	for ctx.Err() == nil {
		s.updateEpoch(ctx, &epochs)
		select {
		case <-ctx.Done():
		case <-s.raft.LeaderCh():
		case <-observed:
			s.leaders.notify()
		}
	}
	return nil
}

// updateEpoch begins and ends epochs as Raft's state demands.
func (s *Store) updateEpoch(ctx context.Context, epochs *sync.WaitGroup) {
	term, leading := s.leadingTerm()
	current, _ := s.leaders.look()
	switch {
	case !leading && current != nil:
		s.logger.Info("leadership lost", "term", current.term)
		s.metrics.leaderChanges.Inc()
		s.leaders.set(nil)
	case leading && (current == nil || current.term != term):
		s.logger.Info("leadership gained", "term", term)
		s.metrics.leaderChanges.Inc()
		e := &epoch{term: term, ready: make(chan struct{})}
		e.ctx, e.end = context.WithCancel(ctx)
		s.leaders.set(e)
		epochs.Go(func() { s.prepareEpoch(e) })
	}
}

// leadingTerm returns the term that this node leads. State and term are two reads: a term that is the same before and after
// the state was read belongs to it.
func (s *Store) leadingTerm() (term uint64, leading bool) {
	for {
		term := s.raft.CurrentTerm()
		leading := s.raft.State() == raft.Leader
		if s.raft.CurrentTerm() == term {
			return term, leading
		}
	}
}

// prepareEpoch commits an entry of the epoch's own term: before that a leader does not know what its predecessors committed,
// and no read may be confirmed. The entry is Init, which names the cluster the first time and changes nothing later; unlike
// Raft's own barrier it is seen by every state machine, so every index confirmed in this term is one that followers reach.
func (s *Store) prepareEpoch(e *epoch) {
	// gofail: var leaderBefore struct{}
	for e.ctx.Err() == nil {
		err := s.commitInit(e.ctx)
		if err == nil {
			// gofail: var leaderAfter struct{}
			e.first = s.Applied()
			close(e.ready)
			s.leaders.notify()
			s.logger.Info("leader is ready", "term", e.term, "index", s.Applied())
			return
		}
		s.logger.Debug("leader not ready yet", "term", e.term, "error", err)
		pause(e.ctx, nil, retryPause)
	}
}

func (s *Store) commitInit(ctx context.Context) error {
	id := s.ClusterID()
	if id == "" {
		id = rand.Text()
	}
	data, err := proto.Marshal(&logpb.Entry{
		Format: entryFormat, TimeUnixNano: time.Now().UnixNano(),
		Op: &logpb.Entry_Init{Init: &logpb.Init{ClusterId: id}},
	})
	if err != nil {
		return fmt.Errorf("encode init entry: %w", err)
	}
	return s.apply(ctx, data, func() {}).asError()
}

// pause waits for d, a change or the end of ctx.
func pause(ctx context.Context, changed <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-changed:
	case <-timer.C:
	}
}

// WhileLeader runs fn each time this node has become a leader that is ready, and cancels its context when leadership ends. It
// returns nil when ctx or the store ends, and fn's error when fn fails while this node leads. Runs of fn never overlap.
func (s *Store) WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error {
	for ctx.Err() == nil { // awaitReadyEpoch may answer without looking at it
		e := s.awaitReadyEpoch(ctx)
		if e == nil {
			return nil
		}
		if err := runWhile(ctx, e, fn); err != nil {
			return err
		}
		select {
		case <-e.ctx.Done():
		case <-ctx.Done():
		}
	}
	return nil
}

// runWhile runs fn until the epoch ends. An error after that end is only fn's way to stop.
func runWhile(ctx context.Context, e *epoch, fn func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	err := fn(ctx)
	if err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled) && e.ctx.Err() == nil) {
		return err
	}
	return nil
}

// awaitReadyEpoch returns nil when ctx or the store ends.
func (s *Store) awaitReadyEpoch(ctx context.Context) *epoch {
	for {
		e, changed := s.leaders.look()
		if e != nil && e.isReady() && e.ctx.Err() == nil {
			return e
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.closing:
			return nil
		case <-changed:
		}
	}
}
