package watch

import (
	"context"
	"net/http"
	"sync"

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

// fanout serves the streams of one connection that follow one resource. The handler of one idle
// stream, the dispatcher, waits for changes and enqueues them for all idle streams. The handlers of
// the others, the subscribers, sleep, because waking thousands of handlers for each event would
// cost several times as much as sending it. Changes that cannot concern any of the streams do not
// wake the dispatcher, and it looks only at the streams that a change may concern (interestOf).
type fanout struct {
	members int // streams that hold a subscriber of this fan-out; guarded by fanouts.mu
	// listener has the interest of each member, also of those whose handlers are busy.
	listener *history.Listener

	mu          sync.Mutex
	dispatching bool // some handler is the dispatcher, or has been chosen to be
	subscribers []*subscriber
	byInterest  history.Index[*subscriber] // the same subscribers
	changes     *history.Cursor            // over the whole resource
	// served is the index up to which all subscribers have their changes. The cursors of those that
	// no change has concerned lately are behind it.
	served  uint64
	batches batches // encoded during the current pass
}

// subscriber is the membership of one stream in a fan-out. While the subscriber is in
// fanout.subscribers, the dispatcher uses its stream, cursor and response under fanout.mu;
// otherwise only its handler does.
type subscriber struct {
	fanout   *fanout
	stream   *Stream
	changes  *history.Cursor
	interest history.Interest // in a superset of the changes that the stream sends
	index    int              // in fanout.subscribers; -1 when not in it

	unsent []*history.Event // for the handler to send; set before it is woken
	// wake receives one value after another handler has removed the subscriber: true if its handler
	// is to be the dispatcher, false if it is to send unsent or to read history.
	wake chan bool
}

// next returns changes that the stream's handler must send itself, as Cursor.Next does. It does not
// return changes that a dispatcher has enqueued.
func (st *Stream) next(ctx context.Context, changes *history.Cursor) ([]*history.Event, error) {
	if st.subscriber == nil {
		return changes.Next(ctx)
	}
	for {
		events, err := changes.Ready(ctx)
		if err != nil || len(events) > 0 {
			return events, err
		}
		events, err = st.subscriber.wait(ctx)
		if err != nil || len(events) > 0 {
			return events, err
		}
	}
}

// wait blocks until the handler has work to do. Meanwhile the handler either is the dispatcher or
// sleeps as a subscriber. wait returns the events that the handler must send, because they came
// before it could subscribe or could not be enqueued. If it returns no events and a nil error, the
// handler must read the missed events from the history. If ctx ends, wait returns its error.
func (s *subscriber) wait(ctx context.Context) ([]*history.Event, error) {
	s.stream.streams.metrics.idle.Inc()
	defer s.stream.streams.metrics.idle.Dec()
	f := s.fanout
	f.mu.Lock()
	// Polling under the lock catches changes that came before the dispatcher could see the
	// subscriber.
	events, reached := s.changes.Poll()
	if len(events) > 0 || !reached {
		f.mu.Unlock()
		return events, nil
	}
	dispatcher := !f.dispatching
	if dispatcher {
		f.dispatching = true
	} else {
		f.add(s)
	}
	f.mu.Unlock()
	if !dispatcher {
		var err error
		if dispatcher, err = s.sleep(ctx); err != nil {
			return nil, err
		}
	}
	if dispatcher {
		return f.dispatch(ctx, s)
	}
	return s.takeUnsent(), nil
}

// takeUnsent returns and clears the events that the handler has to send.
func (s *subscriber) takeUnsent() []*history.Event {
	unsent := s.unsent
	s.unsent = nil
	return unsent
}

// sleep waits until another handler wakes this one, and reports whether it is now the dispatcher.
// If ctx ends first, sleep removes the subscriber and returns the error of ctx.
func (s *subscriber) sleep(ctx context.Context) (dispatcher bool, err error) {
	select {
	case dispatcher = <-s.wake:
		return dispatcher, nil
	case <-ctx.Done():
	}
	f := s.fanout
	f.mu.Lock()
	subscribed := s.index >= 0
	if subscribed {
		f.remove(s)
		f.skipOthers(s)
	}
	f.mu.Unlock()
	if subscribed {
		return false, ctx.Err()
	}
	// Another handler has removed the subscriber; it may have made it the dispatcher.
	return <-s.wake, nil
}

// dispatch enqueues changes for all streams of the fan-out until ctx ends or the dispatcher's own
// stream needs its handler. It then appoints the next dispatcher, and returns the events that the
// handler must send, or ctx's error.
func (f *fanout) dispatch(ctx context.Context, s *subscriber) ([]*history.Event, error) {
	for ctx.Err() == nil {
		if !f.deliver(s) {
			f.appoint()
			return s.takeUnsent(), nil
		}
		f.listener.Await(ctx)
	}
	f.mu.Lock()
	f.skipOthers(s)
	f.mu.Unlock()
	f.appoint()
	return nil, ctx.Err()
}

// deliver enqueues the new changes of all streams. It returns false if the dispatcher's own stream
// needs its handler.
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
		f.byInterest.Concerned(events, func(_ *history.Event, s *subscriber) { f.deliverOrWake(s) })
	}
	dispatcher.changes.Skip(f.served)
	ok := f.deliverTo(dispatcher)
	f.served = f.changes.Position()
	f.batches = batches{} // they would keep the events in memory
	return ok
}

// deliverToAll enqueues the new changes of all subscribers when memory no longer holds all changes
// of the resource after f.changes. It then moves f.changes to the changes after these.
func (f *fanout) deliverToAll() {
	applied := f.listener.Applied() // before the subscribers read, so that no change is missed
	for i := 0; i < len(f.subscribers); {
		s := f.subscribers[i]
		if f.deliverOrWake(s); s.index == i { // otherwise another subscriber is at i now
			i++
		}
	}
	f.changes.Skip(applied)
}

// deliverOrWake enqueues the new changes of a subscriber, or removes it and wakes its handler.
func (f *fanout) deliverOrWake(s *subscriber) {
	s.changes.Skip(f.served)
	if !f.deliverTo(s) {
		f.remove(s)
		s.wake <- false
	}
}

// deliverTo enqueues the new changes of one stream. It returns false if the handler of the stream
// has to go on: with unsent, or by reading changes that memory no longer holds. mu is held.
func (f *fanout) deliverTo(s *subscriber) bool {
	for {
		events, reached := s.changes.Poll()
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
// handler need not read them. All changes before them must have been delivered to the member: mu is
// held, and no pass is going on.
func (f *fanout) skipOthers(s *subscriber) {
	f.served = max(f.served, f.listener.Quiet())
	s.changes.Skip(f.served)
}

// appoint removes a subscriber and wakes its handler as the dispatcher, if there is a subscriber.
func (f *fanout) appoint() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.subscribers) == 0 {
		f.dispatching = false
		return
	}
	s := f.subscribers[len(f.subscribers)-1]
	f.remove(s)
	s.wake <- true
}

// add adds a subscriber. mu is held.
func (f *fanout) add(s *subscriber) {
	s.index = len(f.subscribers)
	f.subscribers = append(f.subscribers, s)
	f.byInterest.Add(s.interest, s)
}

// remove removes a subscriber and moves the last one to its index. mu is held.
func (f *fanout) remove(s *subscriber) {
	last := len(f.subscribers) - 1
	moved := f.subscribers[last]
	f.subscribers[s.index], moved.index = moved, s.index
	f.subscribers[last] = nil
	f.subscribers = f.subscribers[:last]
	s.index = -1
	f.byInterest.Remove(s.interest, s)
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

// join makes a stream a member of its fan-out and returns its subscriber, which is nil if the
// response is no enqueuer. The caller must call leave when the stream ends.
func (all *fanouts) join(st *Stream, changes *history.Cursor) (s *subscriber, leave func()) {
	if st.enqueuer == nil {
		return nil, func() {}
	}
	key := fanoutKey{st.enqueuer.Connection(), changes.Resource()}
	all.mu.Lock()
	defer all.mu.Unlock()
	f := all.open[key]
	if f == nil {
		f = new(fanout)
		f.listener, f.changes = changes.Listen()
		all.open[key] = f
	}
	f.members++
	s = &subscriber{fanout: f, stream: st, changes: changes, interest: interestOf(st, changes), index: -1, wake: make(chan bool, 1)}
	f.listener.Add(s.interest)
	return s, func() {
		f.listener.Remove(s.interest)
		all.mu.Lock()
		defer all.mu.Unlock()
		if f.members--; f.members == 0 {
			delete(all.open, key)
		}
	}
}
