package watch

import (
	"slices"
	"time"

	"quorate/raftstore/history"
)

const (
	// maxBatchBytes bounds a batch that several streams may share.
	maxBatchBytes = 64 << 10
	// maxOwnBatchBytes bounds a batch with a selector, which often only one stream sends.
	maxOwnBatchBytes = 16 << 10
	// maxBatches is the number of batches without a selector that one pass over the streams of a
	// connection remembers, and also the number of those with one. If the streams of a pass have
	// more sources, some batches are encoded more than once.
	maxBatches = 8
)

// source is everything that decides the bytes of a batch: encode reads nothing else. Two streams
// share a batch only if their sources are equal.
type source struct {
	Projection
	first  bool      // the batch begins a stream of Tables, whose first Table has the columns
	at     time.Time // when ages are computed; zero if the encoder ignores the time
	events []*history.Event
}

// equal reports whether the two sources make the same bytes. It compares the most distinctive
// fields first.
func (s *source) equal(o *source) bool {
	return s.Selector == o.Selector && s.first == o.first && slices.Equal(s.events, o.events) && s.at.Equal(o.at) && s.Projection == o.Projection
}

// batch is the bytes that a stream sends for some events.
type batch struct {
	source
	bytes    []byte
	count    int  // of the events that the projection does not drop
	complete bool // bytes contains all of them
}

// encode returns the batch of the source. The batch is incomplete if it would exceed limit bytes or
// if an object cannot be encoded. The cache does not affect the bytes, because its entries depend
// only on an event, an Encoder and a time, which are parts of the source.
func (s *source) encode(cache *encodingCache, limit int) *batch {
	b := &batch{source: *s}
	var head []byte // buffer for the heads of frames
	for _, e := range s.events {
		eventHead, object := s.project(e)
		if eventHead == "" {
			continue
		}
		f, err := s.frame(head, eventHead, object, s.first && b.count == 0, s.at, cache)
		if err != nil || len(b.bytes)+f.size() > limit {
			return b // the stream sends the events itself and reports the error of an object
		}
		// Grow once for all pieces of the frame.
		b.bytes = f.appendTo(slices.Grow(b.bytes, f.size()))
		b.count++
		head = f.head
	}
	b.complete = true
	return b
}

// batches remembers the batches encoded last during one pass over the streams of a connection.
// Streams with selectors, which are often all different, displace no batch of those without.
type batches struct{ all, selected recentBatches }

type recentBatches struct {
	batches [maxBatches]*batch
	next    int
}

// get returns the batch of a source, encoding it if no remembered batch has an equal source.
func (bs *batches) get(s *source, cache *encodingCache) *batch {
	if s.Selector == nil {
		return bs.all.get(s, cache, maxBatchBytes)
	}
	return bs.selected.get(s, cache, maxOwnBatchBytes)
}

func (r *recentBatches) get(s *source, cache *encodingCache, limit int) *batch {
	for _, b := range r.batches {
		if b != nil && b.equal(s) {
			return b
		}
	}
	b := s.encode(cache, limit)
	r.batches[r.next] = b
	r.next = (r.next + 1) % maxBatches
	return b
}

// tryEnqueue enqueues events on the stream's response, and returns true also if the stream drops
// all of them. It returns false, and has enqueued nothing, if the stream has failed, if the events
// exceed the bounds of a batch, if an object cannot be encoded, or if earlier bytes still wait for
// the client.
func (st *Stream) tryEnqueue(events []*history.Event, recent *batches) bool {
	if st.broken() != nil {
		return false
	}
	p := &st.opts.Projection
	b := recent.get(&source{*p, p.tables() && st.sent == 0, encodingTime(p.Encoder), events}, &st.streams.cache)
	switch {
	case b.complete && b.count == 0:
		return true
	case !b.complete || !st.enqueuer.TryEnqueue(b.bytes):
		st.streams.metrics.returned.Inc()
		return false
	}
	st.writing.Store(st.streams.ticks.Load())
	st.sent += b.count
	st.enqueued += int64(len(b.bytes))
	return true
}
