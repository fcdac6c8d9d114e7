package watch

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"quorate/raftstore/history"
)

// enqueuer is a response that can take bytes without blocking on its client (apiserver/wire/h2).
type enqueuer interface {
	// TryEnqueue queues p, which must never change afterwards, and reports whether it did.
	TryEnqueue(p []byte) bool
	// Pending reports whether queued bytes still wait for the client.
	Pending() bool
	// Connection identifies the connection of the response.
	Connection() any
	// Resume makes Follow of the stream run again.
	Resume()
}

// enqueuerOf returns the enqueuer that w is or wraps, or nil if there is none.
func enqueuerOf(w http.ResponseWriter) enqueuer {
	for {
		if e, ok := w.(enqueuer); ok {
			return e
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = u.Unwrap()
	}
}

// byteCounter is a response writer that counts the bytes written through it. Count adds the bytes
// that were enqueued past it.
type byteCounter interface{ Count(bytes int64) }

// fanout serves the streams of one connection that follow one resource. The goroutine of one idle
// stream, the dispatcher, waits for changes and enqueues them for all idle streams. The others, the
// parked ones, have no goroutine, because waking thousands for each event would cost several times
// as much as sending it, and their stacks would take as much memory as all else. Changes that
// cannot concern any of the streams do not wake the dispatcher, and it looks only at the streams
// that a change may concern (interestOf).
type fanout struct {
	key     fanoutKey
	members int // streams that hold a subscriber of this fan-out; guarded by fanouts.mu
	// listener has the interest of each member, also of those that are busy.
	listener *history.Listener

	mu          sync.Mutex
	dispatching bool // some member is the dispatcher, or has been chosen to be
	parked      []*subscriber
	byInterest  history.Index[*subscriber] // the same subscribers
	changes     *history.Cursor            // over the whole resource
	// served is the index up to which all parked have their changes. The cursors of those that
	// no change has concerned lately are behind it.
	served  uint64
	batches batches // encoded during the current pass
}

// subscriber is the membership of one stream in a fan-out, which is nil for none. While the
// subscriber is in fanout.parked, its stream has no goroutine, and the dispatcher uses the stream,
// its cursor and response under fanout.mu; otherwise only the goroutine of the stream does.
type subscriber struct {
	fanout *fanout
	stream *Stream
	index  int         // in fanout.parked; -1 when not in it
	timer  *time.Timer // ends the parking; nil before the first with a deadline

	// What the stream has to do when it goes on, set before it is resumed.
	unsent    []*history.Event // to send first
	appointed bool             // be the dispatcher
}

// changes is the stream's position among the changes.
func (s *subscriber) changes() *history.Cursor { return &s.stream.following.changes }

// errParked means that the stream has been parked, so that its goroutine must end without another
// look at it.
var errParked = errors.New("the stream is parked")

// next returns changes that the stream's goroutine must send itself, as Cursor.Next does. It does
// not return changes that a dispatcher has enqueued. If the error is errParked, the goroutine must
// end.
func (st *Stream) next(ctx context.Context) ([]*history.Event, error) {
	s, changes := &st.following.subscriber, &st.following.changes
	if s.fanout == nil {
		return changes.Next(ctx)
	}
	for {
		if events := s.takeUnsent(); len(events) > 0 {
			return events, nil
		}
		if s.appointed {
			s.appointed = false
			if err := s.fanout.dispatch(ctx, s); err != nil {
				return nil, err
			}
			continue
		}
		events, err := changes.Ready(ctx)
		if err != nil || len(events) > 0 {
			return events, err
		}
		if events, err = s.park(ctx); err != nil || len(events) > 0 {
			return events, err
		}
	}
}

// park makes an idle stream the dispatcher, or parks it until the dispatcher cannot enqueue its
// changes or the stream has to go on: at the deadline of ctx, or at the end of following.exists,
// from which ctx is derived. It returns events instead if they came before it could do so, or an
// error if one of the two has ended.
func (s *subscriber) park(ctx context.Context) ([]*history.Event, error) {
	f := s.fanout
	f.mu.Lock()
	defer f.mu.Unlock()
	// The lock is what makes these checks see all that came before the dispatcher and interrupt
	// could see that the stream is parked.
	events, reached := s.changes().Poll()
	exists := s.stream.following.exists
	switch {
	case len(events) > 0 || !reached:
		return events, nil
	case exists.Err() != nil: // which ctx may not show yet, as it may end after interrupt has run
		return nil, exists.Err()
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !f.dispatching:
		f.dispatching, s.appointed = true, true
		return nil, nil
	}
	f.add(s)
	if due, ok := ctx.Deadline(); ok {
		s.interruptAt(due)
	}
	return nil, errParked
}

// interruptAt ends the parking at a time. mu is held.
func (s *subscriber) interruptAt(due time.Time) {
	if s.timer == nil {
		s.timer = time.AfterFunc(time.Until(due), s.interrupt)
		return
	}
	s.timer.Reset(time.Until(due))
}

// ContextEnded implements cancel.Target.
func (s *subscriber) ContextEnded(context.Context) { s.interrupt() }

// interrupt resumes the stream if it is parked, for instance because its context has ended.
func (s *subscriber) interrupt() {
	f := s.fanout
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.index >= 0 {
		f.skipOthers(s)
		f.resume(s)
	}
}

// takeUnsent returns and clears the events that the stream has to send.
func (s *subscriber) takeUnsent() []*history.Event {
	unsent := s.unsent
	s.unsent = nil
	return unsent
}

// dispatch enqueues changes for all streams of the fan-out until ctx ends or the dispatcher's own
// stream has unsent changes or must read history. It then appoints the next dispatcher, and returns
// ctx's error.
func (f *fanout) dispatch(ctx context.Context, s *subscriber) error {
	defer f.appoint()
	idle := s.stream.streams.metrics.idle
	idle.Inc()
	defer idle.Dec()
	for ctx.Err() == nil {
		if !f.deliver(s) {
			return nil
		}
		f.listener.Await(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.skipOthers(s)
	return ctx.Err()
}

// deliver enqueues the new changes of all streams. It returns false if the dispatcher's own stream
// has unsent changes or must read history.
func (f *fanout) deliver(dispatcher *subscriber) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.served = max(f.served, f.listener.Take())
	f.changes.Skip(f.served)
	for {
		events, reached := f.changes.Poll()
		if !reached {
			f.deliverToAll()
			break
		}
		if len(events) == 0 {
			break
		}
		f.byInterest.Concerned(events, func(_ *history.Event, s *subscriber) { f.deliverOrResume(s) })
	}
	dispatcher.changes().Skip(f.served)
	ok := f.deliverTo(dispatcher)
	f.served = f.changes.Position()
	f.batches = batches{} // they would keep the events in memory
	return ok
}

// deliverToAll enqueues the new changes of all parked streams when memory no longer holds all
// changes of the resource after f.changes. It then moves f.changes to the changes after these.
func (f *fanout) deliverToAll() {
	applied := f.listener.Applied() // before the streams are read, so that no change is missed
	for i := 0; i < len(f.parked); {
		s := f.parked[i]
		if f.deliverOrResume(s); s.index == i { // otherwise another stream is at i now
			i++
		}
	}
	f.changes.Skip(applied)
}

// deliverOrResume enqueues the new changes of a parked stream, or resumes it.
func (f *fanout) deliverOrResume(s *subscriber) {
	s.changes().Skip(f.served)
	if !f.deliverTo(s) {
		f.resume(s)
	}
}

// deliverTo enqueues the new changes of one stream. It returns false if the goroutine of the stream
// has to go on: with unsent, or by reading changes that memory no longer holds. mu is held.
func (f *fanout) deliverTo(s *subscriber) bool {
	for {
		events, reached := s.changes().Poll()
		if len(events) == 0 {
			return reached
		}
		if !s.stream.tryEnqueue(events, &f.batches) {
			s.unsent = events
			return false
		}
	}
}

// skipOthers advances the cursor of a member past the changes that did not concern it, so that its
// goroutine need not read them. All changes before them must have been delivered to the member: mu
// is held, and no pass is going on.
func (f *fanout) skipOthers(s *subscriber) {
	f.served = max(f.served, f.listener.Quiet())
	s.changes().Skip(f.served)
}

// appoint resumes a parked stream as the dispatcher, if there is one.
func (f *fanout) appoint() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.parked) == 0 {
		f.dispatching = false
		return
	}
	s := f.parked[len(f.parked)-1]
	s.appointed = true
	f.resume(s)
}

// add parks a stream. mu is held.
func (f *fanout) add(s *subscriber) {
	s.index = len(f.parked)
	f.parked = append(f.parked, s)
	f.byInterest.Add(interestOf(s.stream), s)
	s.stream.streams.metrics.idle.Inc()
}

// resume starts the goroutine of a parked stream, and moves the last parked one to its index. mu is
// held.
func (f *fanout) resume(s *subscriber) {
	last := len(f.parked) - 1
	moved := f.parked[last]
	f.parked[s.index], moved.index = moved, s.index
	f.parked[last] = nil
	f.parked = f.parked[:last]
	s.index = -1
	f.byInterest.Remove(interestOf(s.stream), s)
	if s.timer != nil {
		s.timer.Stop()
	}
	s.stream.streams.metrics.idle.Dec()
	s.stream.enqueuer.Resume()
}

// fanouts holds the fan-outs that have members.
type fanouts struct {
	mu   sync.Mutex
	open map[fanoutKey]*fanout
}

// fanoutKey is what all streams of a fan-out have in common.
type fanoutKey struct {
	connection any
	resource   string
}

// join sets s to the membership of a stream in its fan-out, which lasts until leave. The response
// must be an enqueuer.
func (all *fanouts) join(s *subscriber, st *Stream) {
	changes := &st.following.changes
	key := fanoutKey{st.enqueuer.Connection(), changes.Resource()}
	all.mu.Lock()
	defer all.mu.Unlock()
	f := all.open[key]
	if f == nil {
		f = &fanout{key: key}
		f.listener, f.changes = changes.Listen()
		all.open[key] = f
	}
	f.members++
	*s = subscriber{fanout: f, stream: st, index: -1}
	f.listener.Add(interestOf(st))
}

// leave ends a membership. The stream is not parked.
func (all *fanouts) leave(s *subscriber) {
	f := s.fanout
	if s.appointed { // and has ended instead
		f.appoint()
	}
	f.listener.Remove(interestOf(s.stream))
	all.mu.Lock()
	defer all.mu.Unlock()
	if f.members--; f.members == 0 {
		delete(all.open, f.key)
	}
}
