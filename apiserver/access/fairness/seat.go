package fairness

import (
	"context"
	"time"
)

const (
	// patience is how long a holder of seats may wait for its client at a time before others get
	// them. It is longer than a client that reads needs, and short enough for those who wait.
	patience = 10 * time.Millisecond
	// sliceCost is what a request that lost its seats while it answered is charged for new ones: a
	// slice of an answer is some 64 KiB, which costs as much as a few gets.
	sliceCost = 4
	// sliceBytes is how much a holder sends or receives before it lets others go first. Less would
	// cost more than it gives: two switches of goroutines for each object of a list.
	sliceBytes = 64 << 10
	// maxResume bounds how long such a request waits.
	maxResume = time.Minute
)

// Seat is what a request holds of a level. Its methods are for the goroutine of the request. The
// zero value holds nothing; its methods do nothing.
type Seat struct {
	level   *level
	queue   *queue
	seats   int
	entered bool // and not left
	timer   *time.Timer
	moved   int // bytes since others could go first

	held  bool // guarded by level.mu
	waits bool // guarded by level.mu: the holder waits for its client
}

// Leave gives the seats to others. The request must not take them again.
func (s *Seat) Leave() {
	if !s.entered {
		return
	}
	s.entered = false
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil // watches live on without seats
	}
	s.level.mu.Lock()
	defer s.level.mu.Unlock()
	s.waits = false
	if s.held {
		s.level.release(s)
	}
}

// BeginWait is called before the request waits for its client, to take or to send bytes. If that
// takes longer than a moment, others get the seats.
func (s *Seat) BeginWait() {
	if !s.entered {
		return
	}
	s.level.mu.Lock()
	s.waits = true
	s.level.mu.Unlock()
	if s.timer == nil {
		s.timer = time.AfterFunc(patience, s.lose)
	} else {
		s.timer.Reset(patience)
	}
}

// lose gives the seats of a holder that waits for its client to others.
func (s *Seat) lose() {
	s.level.mu.Lock()
	defer s.level.mu.Unlock()
	if s.waits && s.held {
		s.level.metrics.lost.Inc()
		s.level.release(s)
	}
}

// EndWait is called after BeginWait, when the request no longer waits for its client. bytes is the
// number of bytes that were sent or received meanwhile. EndWait takes seats again if they were
// lost. After each sliceBytes it also releases the seats and takes new ones if requests wait in the
// level. It returns the error of ctx, or ErrBusy after maxResume; the request then holds nothing.
func (s *Seat) EndWait(ctx context.Context, bytes int) error {
	if !s.entered {
		return nil
	}
	s.timer.Stop()
	s.moved += bytes
	l := s.level
	l.mu.Lock()
	s.waits = false
	if s.held {
		if l.waiting == 0 || s.moved < sliceBytes {
			l.mu.Unlock()
			return nil
		}
		l.release(s)
	}
	s.moved = 0
	w := l.await(&s.queue.resumed, s, sliceCost)
	held := s.held
	l.mu.Unlock()
	if held {
		return nil
	}
	timer := time.NewTimer(maxResume)
	defer timer.Stop()
	err := l.decide(ctx, w, timer.C)
	s.entered = err == nil
	return err
}
