package watch

import (
	"slices"
	"time"

	"quorate/raftstore/history"
)

const (
	// maxBatchBytes bounds a batch that streams share; it is encoded once for all of them.
	maxBatchBytes = 64 << 10
	// maxOwnBytes bounds a batch of a stream that sends what no other does.
	maxOwnBytes = 16 << 10
	// maxBatches is how many batches one pass over the streams of a connection remembers. Streams that
	// take turns with more projections than that encode some of them again.
	maxBatches = 8
)

// source is everything that decides the bytes of a batch: encode reads nothing else. Two streams
// share a batch only if their sources are equal.
type source struct {
	Projection
	first  bool      // the batch begins a stream of Tables, whose first one has the columns
	at     time.Time // when ages are computed; zero where they do not matter
	events []*history.Event
}

// equal compares what is likely to differ first.
func (s *source) equal(o *source) bool {
	return s.first == o.first && slices.Equal(s.events, o.events) && s.at.Equal(o.at) && s.Projection == o.Projection
}

// batch is what a stream sends for some events, in one piece.
type batch struct {
	source
	bytes []byte
	count int  // of events that the stream sends
	whole bool // they are all there, within the bounds
}

// encode makes a batch of at most so many bytes. What it takes from the cache, or leaves there, is
// made of one event and an Encoder, both of which are part of the source.
func (s *source) encode(cache *shared, limit int) *batch {
	b := &batch{source: *s}
	var head []byte
	for _, e := range s.events {
		word, object := s.sees(e)
		if word == "" {
			continue
		}
		f, err := s.frame(head, word, object, s.first && b.count == 0, s.at, cache)
		if err != nil || len(b.bytes)+f.size() > limit {
			return b // the handler sends the events itself, and reports what is wrong with an object
		}
		b.bytes = f.appendTo(slices.Grow(b.bytes, f.size())) // once, not a piece at a time
		b.count++
		head = f.head
	}
	b.whole = true
	return b
}

// batches are those encoded last, during one pass over the streams of a connection.
type batches struct {
	recent [maxBatches]*batch
	next   int
}

// of returns the batch of a source. No other stream has the same selector, even if it reads the
// same, so a batch with one is not remembered.
func (bs *batches) of(s *source, cache *shared) *batch {
	if s.Selector != nil {
		return s.encode(cache, maxOwnBytes)
	}
	for _, b := range bs.recent {
		if b != nil && b.equal(s) {
			return b
		}
	}
	b := s.encode(cache, maxBatchBytes)
	bs.recent[bs.next] = b
	bs.next = (bs.next + 1) % maxBatches
	return b
}

// lend has the connection send events. False means that nothing was done: they are too many bytes,
// or the client has not taken yet what was lent before.
func (st *Stream) lend(events []*history.Event, made *batches) bool {
	if st.broken() != nil {
		return false
	}
	p := &st.opts.Projection
	b := made.of(&source{*p, p.tables() && st.sent == 0, at(p.Encoder), events}, &st.streams.shared)
	switch {
	case b.whole && b.count == 0:
		return true
	case !b.whole || !st.lender.Lend(b.bytes):
		st.streams.metrics.returned.Inc()
		return false
	}
	st.writing.Store(st.streams.ticks.Load())
	st.sent += b.count
	st.lent += int64(len(b.bytes))
	return true
}
