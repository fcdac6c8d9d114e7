package history

import (
	"context"
	"slices"
	"sync"
)

// maxSharedReads is how many reads of the log are kept for other cursors: 16 MiB of events, and at
// most one event more for each.
const maxSharedReads = 16 << 20 / logReadBytes

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
}

// sharedReads are the reads of the log on disk that are under way, and the latest ones. After a
// restart of a node, or of many clients, thousands of cursors read the same entries, which are
// decoded once for all of them.
type sharedReads struct {
	mu       sync.Mutex
	underWay map[readStart]*logRead
	latest   []*logRead // last used first, at most maxSharedReads
}

// begin returns the read that a cursor of a resource can use at a position. own reports whether
// there was none yet: then the caller must make it and call finish.
func (s *sharedReads) begin(resource string, position uint64) (r *logRead, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.latest {
		if r.resource == resource && r.after <= position && position < r.upTo {
			copy(s.latest[1:], s.latest[:i])
			s.latest[0] = r
			return r, false
		}
	}
	start := readStart{resource, position}
	if r := s.underWay[start]; r != nil {
		return r, false
	}
	r = &logRead{readStart: start, done: make(chan struct{}), upTo: position}
	s.underWay[start] = r
	return r, true
}

// finish ends a read, with upTo = r.after if it has failed: then those who wait for it try again,
// with a read of their own.
func (s *sharedReads) finish(r *logRead, events []*Event, upTo uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.events, r.upTo = events, upTo
	if s.underWay[r.readStart] == r { // unless history has begun anew
		delete(s.underWay, r.readStart)
		if upTo > r.after {
			s.latest = slices.Insert(s.latest[:min(len(s.latest), maxSharedReads-1)], 0, r)
		}
	}
	close(r.done)
}

// clear drops all reads, when history begins anew.
func (s *sharedReads) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.underWay, s.latest = make(map[readStart]*logRead), nil
}

// await waits until the read is done, ctx has ended, or the hub is closed.
func (r *logRead) await(ctx context.Context, closed <-chan struct{}) error {
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-closed:
		return ErrClosed
	}
}
