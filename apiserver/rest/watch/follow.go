package watch

import (
	"context"
	"errors"
	"time"

	"quorate/apiserver/wire/cancel"
	"quorate/raftstore/history"
)

// following is what a stream has once its initial objects have been sent.
type following struct {
	changes    history.Cursor
	exists     context.Context // ends with the context of the stream and with the collection
	release    func()          // releases exists
	subscriber subscriber      // of no fan-out if the response is no enqueuer
	ending     cancel.Wait     // for the end of exists, if there is a fan-out
	bookmarkAt time.Time       // when the next bookmark is due, if the stream takes them
}

// beginFollowing makes the stream ready for Follow.
func (st *Stream) beginFollowing(changes *history.Cursor) {
	f := &st.following
	f.changes, f.bookmarkAt = *changes, time.Now().Add(bookmarkEvery)
	f.exists, f.release = st.opts.end.bound(&st.ctx)
	if st.enqueuer != nil {
		st.streams.fanouts.join(&f.subscriber, st)
		f.ending.Begin(f.exists, &f.subscriber)
	}
}

// endFollowing releases what beginFollowing has made, if anything.
func (st *Stream) endFollowing() {
	f := &st.following
	if f.subscriber.fanout != nil {
		f.ending.Stop()
		st.streams.fanouts.leave(&f.subscriber)
	}
	if f.release != nil {
		f.release()
	}
}

// Follow sends the changes after the initial objects until the client disconnects or does not read,
// the timeout or the credential expires, the credential is withdrawn, the server drains, the End is
// reached, history closes or an error occurs, which it sends as the last event.
//
// It returns false if the stream is idle and needs no goroutine. The stream then calls Resume of
// the response, which may be before Follow has returned, to have Follow called again.
func (st *Stream) Follow() (done bool) {
	parked := false
	defer func() {
		if !parked {
			st.end()
		}
	}()
	err := st.sendChanges()
	if parked = errors.Is(err, errParked); !parked {
		st.failUnlessBroken(err)
	}
	return !parked
}

// sendChanges sends changes and bookmarks until the stream has to end, with an error to send as the
// last event unless it is to end cleanly, or is parked, which is errParked.
func (st *Stream) sendChanges() error {
	exists := st.following.exists
	err := st.sendUnsent()
	if err == nil {
		err = st.sendFirst(exists)
	}
	for err == nil && exists.Err() == nil {
		err = st.sendToBookmark(exists)
	}
	if errors.Is(err, errParked) {
		return err
	}
	if err = endError(exists, err); err != nil {
		return err
	}
	if end := st.opts.end; end != nil && end.Reached() {
		return endError(&st.ctx, st.sendUntil(&st.ctx, end, &st.following.changes))
	}
	return st.sendLastBookmark()
}

// sendUnsent sends the changes that could not be enqueued while the stream was parked, also if it
// has to end now: its last bookmark says that it has sent them.
func (st *Stream) sendUnsent() error {
	events := st.following.subscriber.takeUnsent()
	if len(events) == 0 {
		return nil // and what was enqueued last stays noted as such until the client has read it
	}
	return st.sendEvents(events)
}

// sendEvents sends the changes that the projection does not drop.
func (st *Stream) sendEvents(events []*history.Event) error {
	for _, e := range events {
		st.event(e)
	}
	return st.flush()
}

// sendFirst makes a stream that takes bookmarks and has sent nothing yet send an event before it
// waits: the changes that history has, or else a bookmark (D25). A client-go cache lists all
// objects again after a stream that ends within a second without an event.
func (st *Stream) sendFirst(ctx context.Context) error {
	for st.opts.bookmarks && st.sent == 0 {
		events, err := st.following.changes.Ready(ctx)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			st.bookmark(st.following.changes.Position())
		}
		if err := st.sendEvents(events); err != nil {
			return err
		}
	}
	return nil
}

// sendToBookmark sends changes until the next bookmark is due, and the bookmark (D25).
func (st *Stream) sendToBookmark(ctx context.Context) error {
	wait := ctx
	if st.opts.bookmarks {
		var cancel context.CancelFunc
		wait, cancel = context.WithDeadline(ctx, st.following.bookmarkAt)
		defer cancel()
	}
	for {
		events, err := st.next(wait)
		if errors.Is(err, errParked) {
			return err
		}
		if err != nil && wait.Err() != nil && ctx.Err() == nil {
			st.following.bookmarkAt = time.Now().Add(bookmarkEvery)
			st.bookmark(st.following.changes.Position())
			return st.flush()
		}
		if err != nil {
			return err
		}
		if err := st.sendEvents(events); err != nil {
			return err
		}
	}
}

// sendLastBookmark sends a bookmark before the end of a stream that takes bookmarks, unless the
// client has disconnected (D25). So even a very short stream has sent an event: a client-go cache
// lists all objects again after a stream that ends within a second without one.
func (st *Stream) sendLastBookmark() error {
	if !st.opts.bookmarks || errors.Is(st.ctx.Cause(), context.Canceled) {
		return nil
	}
	st.bookmark(st.following.changes.Position())
	return st.flush()
}
