package watch

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync/atomic"
	"time"

	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// bookmarkEvery is how often a stream that asked for them gets a bookmark (D25).
const bookmarkEvery = time.Minute

// Start is where a stream begins.
type Start struct {
	// Initial are objects to send as ADDED first; nil for none.
	Initial iter.Seq2[*state.Object, error]
	// Marked sends a bookmark after them that says so (D26).
	Marked bool
	// After is the position that Initial stands at: changes after it follow.
	After uint64
	// Changes are the changes after After.
	Changes *history.Cursor
}

// Options are those of one stream.
type Options struct {
	// Projection decides what is sent of each event.
	Projection

	Statuses  *negotiate.Statuses
	Bookmarks bool
	Timeout   time.Duration
	// End, when set, is that of the collection.
	End *End
	// Header sends the answer's header; it is called once the stream may begin.
	Header func() error
	// Start returns where to begin. It is called after Header: what fails there becomes an ERROR event (D13).
	Start func(ctx context.Context) (Start, error)
	// Unforeseen is told of errors that have no Status of their own.
	Unforeseen func(err error)
}

// Stream is one watch at work.
type Stream struct {
	streams *Streams
	w       http.ResponseWriter
	flusher *http.ResponseController
	lender  lender // nil when the answer is none
	opts    Options
	cancel  context.CancelCauseFunc
	writing atomic.Int64 // the tick at which the write under way began, or something was lent; 0 between writes
	sent    int
	lent    int64  // bytes
	err     error  // of the writer; nothing more is written after it
	seat    *rider // nil where it can't ride

	buffers buffers
	failed  error // an object could not be converted or encoded; it ends the stream
}

// Serve runs a stream until the client goes, the time is up, the server drains or history ends. An error means that nothing
// has been sent.
func (s *Streams) Serve(ctx context.Context, w http.ResponseWriter, opts Options) error {
	if opts.Encoder == nil && opts.Form.Binary() {
		opts.Encoder = inProtobuf{opts.Kind}
	}
	ctx, stop := context.WithTimeout(ctx, opts.Timeout)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream := &Stream{streams: s, w: w, flusher: http.NewResponseController(w), opts: opts, cancel: cancel}
	stream.lender = lenderOf(w)
	if err := s.add(stream); err != nil {
		return err
	}
	defer s.remove(stream)
	if err := opts.Header(); err != nil {
		return nil //nolint:nilerr // the client is gone, and with it the one to tell
	}
	if err := stream.run(ctx); err != nil && stream.err == nil {
		stream.fail(err)
	}
	s.metrics.events.Add(float64(stream.sent))
	if m, ok := w.(meter); ok {
		m.Count(stream.lent)
	}
	return nil
}

// run returns nil when the stream is to end cleanly.
func (st *Stream) run(ctx context.Context) error {
	start, err := st.opts.Start(ctx)
	if err != nil {
		return unbegun(ctx, err)
	}
	if err := st.sendInitial(start); err != nil {
		return unbegun(ctx, err)
	}
	return st.follow(ctx, start.Changes)
}

// unbegun is endOf before a stream has come to the changes. A client that saw it end cleanly would take it that there are none.
func unbegun(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errDrained) || errors.Is(err, history.ErrClosed) {
		return errDrained
	}
	return endOf(ctx, err)
}

// endOf tells an end that was due from an error: the client's leaving, the timeout and the server's end are no errors.
func endOf(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, history.ErrClosed) {
		return nil
	}
	return err
}

func (st *Stream) sendInitial(start Start) error {
	if start.Initial == nil {
		return nil
	}
	for o, err := range start.Initial {
		if err != nil {
			return err
		}
		if st.opts.Selector.Matches(o) {
			st.send(added, o.Value)
		}
		if err := st.broken(); err != nil {
			return err
		}
	}
	if start.Marked {
		st.bookmark(start.After, initialEventsEnd)
	}
	st.buffers.object = nil // a stream lives long, and what follows is shared
	return st.flush()
}

// follow sends changes until the stream is to end.
func (st *Stream) follow(ctx context.Context, changes *history.Cursor) error {
	there, stop := st.opts.End.bound(ctx)
	defer stop()
	seat, leave := st.streams.carriages.seat(st, changes)
	defer leave()
	st.seat = seat
	err := st.greet(there, changes)
	for err == nil && there.Err() == nil {
		err = st.followToBookmark(there, changes)
	}
	if err = endOf(there, err); err != nil {
		return err
	}
	if end := st.opts.End; end != nil && end.Reached() {
		return endOf(ctx, st.drain(ctx, end, changes))
	}
	return st.leave(ctx, changes)
}

// greet sees to it that a stream that takes bookmarks has sent something before it waits: the changes that are there, or else a bookmark
// (D25). A stock cache takes a stream that is cut off within a second, with nothing said, for broken, and lists everything anew.
func (st *Stream) greet(ctx context.Context, changes *history.Cursor) error {
	for st.opts.Bookmarks && st.sent == 0 {
		events, err := changes.Ready(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			st.event(e)
		}
		if len(events) == 0 {
			st.bookmark(changes.Position(), "")
		}
		if err := st.flush(); err != nil {
			return err
		}
	}
	return nil
}

// followToBookmark sends changes until the next bookmark is due, and that (D25).
func (st *Stream) followToBookmark(ctx context.Context, changes *history.Cursor) error {
	wait := ctx
	if st.opts.Bookmarks {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, bookmarkEvery)
		defer cancel()
	}
	for {
		events, err := st.next(wait, changes)
		if err != nil && wait.Err() != nil && ctx.Err() == nil {
			st.bookmark(changes.Position(), "")
			return st.flush()
		}
		if err != nil {
			return err
		}
		for _, e := range events {
			st.event(e)
		}
		if err := st.flush(); err != nil {
			return err
		}
	}
}

// leave sends a last bookmark before a stream ends for another reason than that its client is gone (D25). However short the stream
// was, it has then said something: a stock cache takes one that ends within a second and has not for broken, and lists everything
// anew.
func (st *Stream) leave(ctx context.Context, changes *history.Cursor) error {
	if !st.opts.Bookmarks || errors.Is(context.Cause(ctx), context.Canceled) {
		return nil
	}
	st.bookmark(changes.Position(), "")
	return st.flush()
}

// event sends one change.
func (st *Stream) event(e *history.Event) {
	if head, object := st.opts.sees(e); head != "" {
		st.share(head, object)
	}
}

// fail sends an error as the stream's last event (D13, D45).
func (st *Stream) fail(err error) {
	failed, mapped := status.From(err, status.Subject{})
	if !mapped {
		st.opts.Unforeseen(err)
	}
	st.failed = nil
	st.sendStatus(&status.ForWatch(failed).Status)
	// The client may be gone; then there is nobody to tell.
	_ = st.flush()
}

// flush sends what was written. An error ends the stream.
func (st *Stream) flush() error {
	if st.err != nil {
		return st.err
	}
	st.writing.Store(st.streams.ticks.Load())
	st.err = st.flusher.Flush()
	st.writing.Store(0)
	return st.broken()
}

// broken returns what keeps the stream from going on.
func (st *Stream) broken() error {
	if st.err != nil {
		return st.err
	}
	return st.failed
}
