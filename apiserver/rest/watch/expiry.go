package watch

import (
	"container/heap"
	"context"
	"math"
	"time"
)

// byExpiry is a heap of streams, the one that expires next first. One timer for all of them takes
// less memory than a timer for each.
type byExpiry []*Stream

const (
	// expired is the expiry of a stream whose context expire has canceled.
	expired time.Duration = math.MaxInt64
	// maxValid bounds how long a stream is valid, so that no sum overflows.
	maxValid = 100 * 365 * 24 * time.Hour
	// maxExpired bounds the streams that expire cancels in one hold of the lock.
	maxExpired = 1000
)

// Len implements heap.Interface, as the other methods do.
func (h byExpiry) Len() int { return len(h) }

func (h byExpiry) Less(i, j int) bool { return h[i].expires < h[j].expires }

func (h byExpiry) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push adds a stream, an x of the type *Stream.
func (h *byExpiry) Push(x any) {
	stream := x.(*Stream) //nolint:forcetypeassert // only insert adds any
	stream.place = len(*h)
	*h = append(*h, stream)
}

// Pop removes the last stream.
func (h *byExpiry) Pop() any {
	last := len(*h) - 1
	stream := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return stream
}

// insert adds an open stream that is valid for a time. mu is held.
func (s *Streams) insert(stream *Stream, validFor time.Duration) {
	stream.expires = time.Since(s.began) + min(max(validFor, 0), maxValid)
	heap.Push(&s.open, stream)
	if s.open[0] == stream {
		s.awaitExpiry()
	}
}

// extract removes a stream. mu is held.
func (s *Streams) extract(stream *Stream) {
	heap.Remove(&s.open, stream.place)
	if len(s.open) == 0 {
		s.expiry.Stop()
	}
}

// awaitExpiry sets the timer for the stream that expires next. mu is held, and a stream is open.
func (s *Streams) awaitExpiry() {
	next := s.open[0].expires
	switch left := next - time.Since(s.began); {
	case next == expired:
	case s.expiry == nil:
		s.expiry = time.AfterFunc(left, s.expire)
	default:
		s.expiry.Reset(left)
	}
}

// expire cancels the contexts of the streams that have expired, which stay open until they have
// ended.
func (s *Streams) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) == 0 {
		return
	}
	now := time.Since(s.began)
	for range maxExpired {
		first := s.open[0]
		if first.expires > now {
			break
		}
		first.ctx.Cancel(context.DeadlineExceeded)
		first.expires = expired
		heap.Fix(&s.open, 0)
	}
	s.awaitExpiry()
}
