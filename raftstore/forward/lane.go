package forward

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"quorate/proto/peerpb"
)

const (
	// maxWrites and maxBytes bound the writes that one node has on their way to another, sent or not; further ones are refused.
	// The other end takes up no more than that either.
	maxWrites = 4096
	maxBytes  = 64 << 20
	// maxMessageBytes bounds the entries in one message, unless a single one is greater; gRPC takes 16 MiB (package transport).
	maxMessageBytes = 4 << 20
)

var (
	errFull   = errors.New("too many writes are on their way to it")
	errClosed = errors.New("forwarding is closed")
	// errLast is the end of a stream whose peer says that it took up nothing but what it has answered.
	errLast = errors.New("it takes up no more writes")
)

// lane takes writes to one peer. A write is queued until the sender takes it for a message; from then on only an answer, or the
// peer's word that there will be none, tells what became of it.
type lane struct {
	name    string // of the peer
	store   peerpb.StoreClient
	metrics *metrics
	wake    chan struct{} // holds one value when the queue may have ceased to be empty

	mu     sync.Mutex
	closed bool
	queue  []*write
	sent   map[uint64]*write // by id, until they are answered
	bytes  int               // of both
	lastID uint64
}

// write is one on its way.
type write struct {
	req      *peerpb.WriteRequest
	size     int
	deadline time.Time // zero for none
	done     chan answer
}

type answer struct {
	resp *peerpb.WriteResponse
	err  error
}

func newLane(name string, store peerpb.StoreClient, m *metrics) *lane {
	return &lane{name: name, store: store, metrics: m, wake: make(chan struct{}, 1), sent: make(map[uint64]*write)}
}

// write waits for the answer, or for ctx to end.
func (l *lane) write(ctx context.Context, req *peerpb.WriteRequest) (*peerpb.WriteResponse, error) {
	w := &write{req: req, size: len(req.GetEntry()), done: make(chan answer, 1)}
	w.deadline, _ = ctx.Deadline()
	if err := l.enqueue(w); err != nil {
		return nil, l.notSent(err)
	}
	select {
	case a := <-w.done:
		return a.resp, a.err
	case <-ctx.Done():
		return l.abandon(w, ctx.Err())
	}
}

func (l *lane) enqueue(w *write) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	if len(l.queue)+len(l.sent) >= maxWrites || l.bytes > 0 && l.bytes+w.size > maxBytes {
		l.metrics.full.Inc()
		return errFull
	}
	l.queue = append(l.queue, w)
	l.bytes += w.size
	if len(l.queue) == 1 {
		signal(l.wake)
	}
	return nil
}

// abandon gives up waiting. What was sent keeps its place until it is answered: the peer still has it.
func (l *lane) abandon(w *write, cause error) (*peerpb.WriteResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case a := <-w.done: // at the same moment
		return a.resp, a.err
	default:
	}
	if i := slices.Index(l.queue, w); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
		l.bytes -= w.size
		return nil, l.notSent(cause)
	}
	return nil, l.inDoubt(cause)
}

// take takes what waits, up to one message; nil when nothing does.
func (l *lane) take() *peerpb.WriteBatch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return nil
	}
	count, size := 0, 0
	for count < len(l.queue) && (count == 0 || size+l.queue[count].size <= maxMessageBytes) {
		size += l.queue[count].size
		count++
	}
	if count < len(l.queue) {
		l.metrics.messagesFull.Inc()
	}
	l.metrics.messageWrites.Observe(float64(count))
	batch := &peerpb.WriteBatch{Writes: make([]*peerpb.WriteRequest, count)}
	for i, w := range l.queue[:count] {
		l.lastID++
		l.sent[l.lastID] = w
		batch.Writes[i] = w.stamp(l.lastID)
	}
	l.queue = slices.Delete(l.queue, 0, count)
	return batch
}

// stamp makes the request ready to go, and lets go of it: its bytes are not needed again.
func (w *write) stamp(id uint64) *peerpb.WriteRequest {
	req := w.req
	w.req = nil
	req.Id = id
	if !w.deadline.IsZero() {
		req.TimeoutNanos = int64(max(time.Until(w.deadline), 1))
	}
	return req
}

// answered hands results to their callers, some of whom may have left.
func (l *lane) answered(results []*peerpb.WriteResponse) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range results {
		w := l.sent[r.GetId()]
		if w == nil {
			continue // answered twice: not by this program
		}
		delete(l.sent, r.GetId())
		l.bytes -= w.size
		w.done <- answer{resp: r}
	}
}

// lose ends all that waits when there is no stream, or no more: by how it ended, what was sent is in doubt or not. Nothing is
// carried over to another stream, since that may be the time to ask another peer.
func (l *lane) lose(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loseLocked(cause)
}

func (l *lane) loseLocked(cause error) {
	sent := l.inDoubt
	if errors.Is(cause, errLast) {
		sent = l.notSent
	}
	for _, w := range l.sent {
		w.done <- answer{err: sent(cause)}
	}
	for _, w := range l.queue {
		w.done <- answer{err: l.notSent(cause)}
	}
	clear(l.sent)
	l.queue, l.bytes = nil, 0
}

// close ends all that waits, and refuses what comes.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.loseLocked(errClosed)
}

func (l *lane) notSent(cause error) error {
	return fmt.Errorf("forward write to %s: %w: %w", l.name, ErrNotSent, cause)
}

func (l *lane) inDoubt(cause error) error {
	return fmt.Errorf("forward write to %s: %w", l.name, cause)
}

// signal puts a value into a channel that holds one, if it is empty.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
