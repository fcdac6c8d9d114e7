package history

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// keptPart is the part of Config.MaxBytes that kept reads of the log may take: a quarter.
	keptPart = 4
	// keptReads bounds the number of kept reads, also of those with few events.
	keptReads = 64
	// keptTime is how long kept reads are kept after the last use of any of them.
	keptTime = 30 * time.Second
)

// readStart is where a read of the log on disk begins: after a position, for all of a resource.
type readStart struct {
	resource string
	after    uint64
}

// logRead is a read of the log on disk: the events after its start, up to another position.
type logRead struct {
	readStart
	done chan struct{} // closed when the fields below are set

	upTo   uint64 // after, if the read has failed
	events []*Event
	bytes  int64 // of events
}

// sharedReads are the running reads of the log on disk, and the latest ones. After a restart of a
// node, or of many clients, thousands of cursors read the same entries, which are decoded once for
// all of them.
type sharedReads struct {
	maxBytes int64 // of latest, which may exceed it with a single read

	mu      sync.Mutex
	running map[readStart]*logRead
	latest  []*logRead // last used first, at most keptReads
	bytes   int64      // of latest
	expiry  *time.Timer
}

func newSharedReads(maxBytes int64) *sharedReads {
	s := &sharedReads{maxBytes: maxBytes, running: make(map[readStart]*logRead)}
	s.expiry = time.AfterFunc(keptTime, s.drop)
	s.expiry.Stop()
	return s
}

// find returns the running or kept read that a cursor of a resource can use at a position, or nil.
func (s *sharedReads) find(resource string, position uint64) *logRead {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findLocked(resource, position)
}

func (s *sharedReads) findLocked(resource string, position uint64) *logRead {
	for i, r := range s.latest {
		if r.resource == resource && r.after <= position && position < r.upTo {
			copy(s.latest[1:], s.latest[:i])
			s.latest[0] = r
			s.expiry.Reset(keptTime)
			return r
		}
	}
	return s.running[readStart{resource, position}]
}

// begin is find, but begins a read if there is none. own reports that: then the caller must make it
// and call finish.
func (s *sharedReads) begin(resource string, position uint64) (r *logRead, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.findLocked(resource, position); r != nil {
		return r, false
	}
	r = &logRead{readStart: readStart{resource, position}, done: make(chan struct{}), upTo: position}
	s.running[r.readStart] = r
	return r, true
}

// finish ends a read, with upTo = r.after if it has failed: then those who wait for it try again,
// with a read of their own.
func (s *sharedReads) finish(r *logRead, events []*Event, upTo uint64) {
	for _, e := range events {
		r.bytes += int64(e.Size())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.events, r.upTo = events, upTo
	if s.running[r.readStart] == r { // unless history has begun anew
		delete(s.running, r.readStart)
		if upTo > r.after {
			s.keep(r)
		}
	}
	close(r.done)
}

// keep keeps a read instead of the ones that were used longest ago. mu is held.
func (s *sharedReads) keep(r *logRead) {
	s.latest = slices.Insert(s.latest, 0, r)
	s.bytes += r.bytes
	for n := len(s.latest); n > keptReads || n > 1 && s.bytes > s.maxBytes; n-- {
		s.bytes -= s.latest[n-1].bytes
		s.latest = slices.Delete(s.latest, n-1, n)
	}
	s.expiry.Reset(keptTime)
}

// drop drops the kept reads.
func (s *sharedReads) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest, s.bytes = nil, 0
}

// restart drops all reads, also those that run, when history begins anew.
func (s *sharedReads) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest, s.bytes = nil, 0
	clear(s.running)
}

// close drops the kept reads, and ends their timer.
func (s *sharedReads) close() {
	s.expiry.Stop()
	s.drop()
}

// kept returns the size of the events of kept reads, in bytes.
func (s *sharedReads) kept() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// await waits until the read is done, ctx has ended, or the hub is closed. It succeeds if the read
// was done before.
func (r *logRead) await(ctx context.Context, closed <-chan struct{}) error {
	select {
	case <-r.done:
		return nil
	default:
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-closed:
		return ErrClosed
	}
}
