package watch

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync/atomic"
	"time"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/access/budget"
	"quorate/apiserver/wire/cancel"
	"quorate/apiserver/wire/negotiate"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// bookmarkEvery is the interval between the bookmarks of a stream that asked for them (D25).
const bookmarkEvery = time.Minute

// Start is the point in history at which a stream begins.
type Start struct {
	// Initial yields the objects that the stream sends first, as ADDED; nil for none.
	Initial iter.Seq2[*state.Object, error]
	// Marked makes the stream send the bookmark that ends the initial events (D26).
	Marked bool
	// MarkRow begins the row in the Table of that bookmark: the JSON up to the value of
	// resourceVersion in the metadata of the row's object. It is empty unless the stream sends Tables.
	MarkRow string
	// After is the index of the state that Initial shows.
	After uint64
	// Changes reads the changes after After.
	Changes *history.Cursor
}

// Options configures one stream.
type Options struct {
	// Projection decides which events the stream sends and how it encodes them.
	Projection

	Sender    Sender
	Statuses  *negotiate.Statuses
	Bookmarks bool
	Timeout   time.Duration
	// Credential is what the sender authenticated with. The stream ends when it expires or is
	// withdrawn, as it ends at its timeout.
	Credential auth.Credential
	// End, if set, is the end of a collection that may be removed.
	End *End
	// Header sends the response header. Begin calls it once it has admitted the stream.
	Header func() error
	// Start returns where to begin. Begin calls it after Header, so its error becomes an ERROR
	// event (D13).
	Start func(ctx context.Context) (Start, error)
	// Started, if not nil, is called after the initial objects have been sent.
	Started func()
	// Ended, if not nil, is called when a stream that was not refused has ended.
	Ended func()
	// Faults records errors that do not map to a Status.
	Faults Faults
}

// Faults records internal errors of a stream.
type Faults interface{ InternalError(err error) }

// settings are the Options that a stream needs after its initial objects.
type settings struct {
	Projection
	statuses  *negotiate.Statuses
	bookmarks bool
	end       *End
	ended     func()
	faults    Faults
}

func (o *Options) settings() settings {
	return settings{o.Projection, o.Statuses, o.Bookmarks, o.End, o.Ended, o.Faults}
}

// validFor returns the shorter one of the timeout and the time for which the credential is valid.
func (o *Options) validFor() time.Duration {
	if o.Credential.Expires.IsZero() {
		return o.Timeout
	}
	return min(o.Timeout, time.Until(o.Credential.Expires))
}

// Stream is one open watch. With the allocator's header of 8 bytes it fits into 768, a size class:
// nodes may have 100,000, and each collection of garbage looks at all of them.
type Stream struct {
	streams    *Streams
	held       budget.Holding // of the bounds on streams
	w          http.ResponseWriter
	enqueuer   enqueuer // nil if w is none
	opts       settings
	ctx        cancel.Context // ends when the stream has to
	left       cancel.Wait    // for the end of the request
	withdrawal cancel.Wait    // for the withdrawal of the credential
	expires    time.Duration  // after streams.began; guarded by streams.mu
	place      int            // in streams.open; guarded by streams.mu
	writing    atomic.Int64   // tick of the current write or the last enqueue; 0 after a write
	sent       int            // events
	enqueued   int64          // bytes
	err        error          // of the writer; nothing is written after it
	following  following

	buffers buffers
	failed  error // an object could not be converted or encoded; it ends the stream
}

// leaver ends a stream with its request.
type leaver Stream

// ContextEnded implements cancel.Target.
func (st *leaver) ContextEnded(ctx context.Context) { st.ctx.Cancel(ctx.Err()) }

// withdrawer ends a stream whose credential is withdrawn.
type withdrawer Stream

// ContextEnded implements cancel.Target.
func (st *withdrawer) ContextEnded(context.Context) { st.ctx.Cancel(errWithdrawn) }

// Begin sends the initial objects of a stream, and returns it for Follow to send the changes. It
// returns nil if the stream has ended already. An error means that Begin has refused the stream and
// has sent nothing.
func (s *Streams) Begin(ctx context.Context, w http.ResponseWriter, opts Options) (*Stream, error) {
	if opts.Encoder == nil && opts.Form.Binary() {
		opts.Encoder = protobufEncoder{opts.Kind}
	}
	st := &Stream{streams: s, w: w, enqueuer: enqueuerOf(w), opts: opts.settings()}
	st.ctx.Init(ctx)
	if err := s.add(st, &opts); err != nil {
		return nil, err
	}
	st.left.Begin(ctx, (*leaver)(st))
	follows := false
	defer func() {
		if !follows {
			st.end()
		}
	}()
	if w := opts.Credential.Withdrawn; w != nil {
		st.withdrawal.Begin(w, (*withdrawer)(st))
	}
	if err := opts.Header(); err != nil {
		return nil, nil //nolint:nilerr // the client is gone, so no error can reach it
	}
	changes, err := st.begin(&st.ctx, &opts)
	if changes == nil {
		if ctx.Err() == nil { // which may be why there is an error, before st.ctx has ended, too
			st.failUnlessBroken(err)
		}
		return nil, nil
	}
	st.beginFollowing(changes)
	follows = true
	return st, nil
}

// begin sends the initial objects. It returns the changes that follow; nil if the stream is to end,
// with an error to send as the last event unless it is to end cleanly.
func (st *Stream) begin(ctx *cancel.Context, opts *Options) (*history.Cursor, error) {
	start, err := opts.Start(ctx)
	if err != nil {
		return nil, startError(ctx, err)
	}
	if err := st.sendInitial(ctx, start); err != nil {
		return nil, initialError(ctx, err)
	}
	if opts.Started != nil {
		opts.Started()
	}
	return start.Changes, nil
}

// failUnlessBroken sends an error, if it is one, unless nothing can be written.
func (st *Stream) failUnlessBroken(err error) {
	if err != nil && st.err == nil {
		st.fail(err)
	}
}

// end releases what the stream holds, after its last event.
func (st *Stream) end() {
	st.endFollowing()
	st.streams.metrics.events.Add(float64(st.sent))
	if c, ok := st.w.(byteCounter); ok {
		c.Count(st.enqueued)
	}
	st.withdrawal.Stop()
	st.streams.remove(st)
	st.left.Stop()
	st.ctx.Cancel(nil)
	if st.opts.ended != nil {
		st.opts.ended()
	}
}

// startError is endError for a stream that has not sent all of its initial objects. It returns
// errDrained if the server stops, because a client that saw the stream end without an error would
// conclude that there are no more objects.
func startError(ctx *cancel.Context, err error) error {
	if errors.Is(ctx.Cause(), errDrained) || errors.Is(err, history.ErrClosed) {
		return errDrained
	}
	return endError(ctx, err)
}

// initialError is startError for a stream that may have sent some of its initial objects. It
// returns errIncomplete if the server ends the stream, for instance at its timeout.
func initialError(ctx *cancel.Context, err error) error {
	if err = startError(ctx, err); err == nil && !errors.Is(ctx.Cause(), context.Canceled) {
		return errIncomplete
	}
	return err
}

// endError returns err, or nil if the stream ends as it should: because ctx has ended (the client
// has disconnected, the timeout has expired or the server drains) or because history has closed.
func endError(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, history.ErrClosed) {
		return nil
	}
	return err
}

// lookEvery is the number of objects between two checks of a context.
const lookEvery = 1024

// sendInitial sends the initial objects that the selector matches, and the bookmark after them.
func (st *Stream) sendInitial(ctx context.Context, start Start) error {
	if start.Initial == nil {
		return nil
	}
	visited := 0
	for o, err := range start.Initial {
		if err != nil {
			return err
		}
		if visited++; visited%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if st.opts.Selector.Matches(o) {
			st.send(added, o.Value)
		}
		if err := st.broken(); err != nil {
			return err
		}
	}
	if start.Marked {
		st.bookmarkWith(start.After, initialEventsEnd, start.MarkRow)
	}
	st.buffers.object = nil // streams live long, and the encodings of changes are shared
	return st.flush()
}

// event sends a change, unless the projection drops it.
func (st *Stream) event(e *history.Event) {
	if head, object := st.opts.project(e); head != "" {
		st.sendShared(head, object)
	}
}

// fail sends an error as the last event of the stream (D13, D45).
func (st *Stream) fail(err error) {
	failed, mapped := status.From(err, status.Subject{})
	if !mapped {
		st.opts.faults.InternalError(err)
	}
	st.failed = nil
	st.sendStatus(&status.ForWatch(failed).Status)
	_ = st.flush() // the stream ends in any case
}

// flush sends the events written so far. An error ends the stream.
func (st *Stream) flush() error {
	if st.err != nil {
		return st.err
	}
	st.writing.Store(st.streams.ticks.Load())
	st.err = http.NewResponseController(st.w).Flush()
	st.writing.Store(0)
	return st.broken()
}

// broken returns the error that ends the stream, or nil.
func (st *Stream) broken() error {
	if st.err != nil {
		return st.err
	}
	return st.failed
}
