package watch

import (
	"slices"

	"quorate/apiserver/schema"
	"quorate/raftstore/history"
)

const (
	// maxParcelBytes is how much is lent at a time to streams that send the same; it is made once for all of them.
	maxParcelBytes = 64 << 10
	// maxOwnBytes is how much is lent at a time to a stream that sends what no other does.
	maxOwnBytes = 16 << 10
)

// parcel is what a stream sends for some events, in one piece.
type parcel struct {
	of    contents
	bytes []byte
	count int  // of events that the stream sends
	whole bool // they are all there, within the bounds
}

// contents say what a parcel is; streams without selectors for which they are equal send the same.
type contents struct {
	first   *history.Event
	events  int
	kind    *schema.Kind
	encoder Encoder
	table   *Table
}

// lend has the connection send events, in the last parcel when that is what the stream sends. False means that nothing was done: they are
// too many bytes, or the client has not taken yet what was lent before.
func (st *Stream) lend(events []*history.Event, last *parcel) bool {
	if st.broken() != nil || st.opts.Table != nil && st.sent == 0 {
		return false // the first Table begins otherwise than the others
	}
	p := last
	if st.opts.Selector != nil {
		p = st.pack(events, maxOwnBytes)
	} else if of := (contents{events[0], len(events), st.opts.Kind, st.opts.Encoder, st.opts.Table}); last.of != of {
		*last = *st.pack(events, maxParcelBytes)
		last.of = of
	}
	switch {
	case p.whole && p.count == 0:
		return true
	case !p.whole || !st.lender.Lend(p.bytes):
		st.streams.metrics.returned.Inc()
		return false
	}
	st.writing.Store(st.streams.ticks.Load())
	st.sent += p.count
	st.lent += int64(len(p.bytes))
	return true
}

// pack makes a parcel of at most so many bytes.
func (st *Stream) pack(events []*history.Event, limit int) *parcel {
	p := new(parcel)
	for _, e := range events {
		head, object := st.sees(e)
		if head == "" {
			continue
		}
		f, err := st.frameShared(head, object)
		if err != nil || len(p.bytes)+f.size() > limit {
			return p // the handler sends them itself, and says what is wrong with an object
		}
		p.bytes = f.appendTo(slices.Grow(p.bytes, f.size())) // once, not a piece at a time
		p.count++
	}
	p.whole = true
	return p
}
