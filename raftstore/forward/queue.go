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
	// maxWrites and maxBytes bound the writes from one node to another that have no result yet,
	// sent or not. The client refuses further writes, and the server accepts no more.
	maxWrites = 4096
	maxBytes  = 64 << 20
	// maxMessageBytes bounds the entries in one message, unless a single one is greater; gRPC takes
	// 16 MiB (package transport).
	maxMessageBytes = 4 << 20
)

var (
	errFull   = errors.New("too many writes to this peer are pending")
	errClosed = errors.New("forwarding is closed")
	// errLast is the end of a stream whose peer has answered all writes that it accepted.
	errLast = errors.New("the peer accepts no further writes")
)

// queue holds the writes to one peer. A write waits until the sender puts it into a message. Then
// only a result, or errLast, decides its outcome.
type queue struct {
	name    string // of the peer
	store   peerpb.StoreClient
	metrics *metrics
	wake    chan struct{} // holds one value when the queue may no longer be empty

	mu      sync.Mutex
	closed  bool
	waiting []*write
	sent    map[uint64]*write // by id, until they are answered
	bytes   int               // of waiting and sent writes
	lastID  uint64
}

// write is a write that has no result yet.
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

func newQueue(name string, store peerpb.StoreClient, m *metrics) *queue {
	return &queue{name: name, store: store, metrics: m, wake: make(chan struct{}, 1), sent: make(map[uint64]*write)}
}

// write enqueues a request and waits for its result or for the end of ctx.
func (q *queue) write(ctx context.Context, req *peerpb.WriteRequest) (*peerpb.WriteResponse, error) {
	w := &write{req: req, size: len(req.GetEntry()), done: make(chan answer, 1)}
	w.deadline, _ = ctx.Deadline()
	if err := q.enqueue(w); err != nil {
		return nil, q.notSent(err)
	}
	select {
	case a := <-w.done:
		return a.resp, a.err
	case <-ctx.Done():
		return q.abandon(w, ctx.Err())
	}
}

func (q *queue) enqueue(w *write) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return errClosed
	}
	if len(q.waiting)+len(q.sent) >= maxWrites || q.bytes > 0 && q.bytes+w.size > maxBytes {
		q.metrics.full.Inc()
		return errFull
	}
	q.waiting = append(q.waiting, w)
	q.bytes += w.size
	if len(q.waiting) == 1 {
		signal(q.wake)
	}
	return nil
}

// abandon stops waiting for a write. A sent write counts towards the bounds until its result
// arrives, because the peer still has it.
func (q *queue) abandon(w *write, cause error) (*peerpb.WriteResponse, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case a := <-w.done: // the result arrived at the same time
		return a.resp, a.err
	default:
	}
	if i := slices.Index(q.waiting, w); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.bytes -= w.size
		return nil, q.notSent(cause)
	}
	return nil, q.inDoubt(cause)
}

// take removes waiting writes for one message and returns them, nil if there are none.
func (q *queue) take() *peerpb.WriteBatch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil
	}
	count, size := 0, 0
	for count < len(q.waiting) && (count == 0 || size+q.waiting[count].size <= maxMessageBytes) {
		size += q.waiting[count].size
		count++
	}
	if count < len(q.waiting) {
		q.metrics.messagesFull.Inc()
	}
	q.metrics.messageWrites.Observe(float64(count))
	batch := &peerpb.WriteBatch{Writes: make([]*peerpb.WriteRequest, count)}
	for i, w := range q.waiting[:count] {
		q.lastID++
		q.sent[q.lastID] = w
		batch.Writes[i] = w.toRequest(q.lastID)
	}
	q.waiting = slices.Delete(q.waiting, 0, count)
	return batch
}

// toRequest completes and returns the request, and drops the reference to it, because the queue
// does not need its bytes again.
func (w *write) toRequest(id uint64) *peerpb.WriteRequest {
	req := w.req
	w.req = nil
	req.Id = id
	if !w.deadline.IsZero() {
		req.TimeoutNanos = int64(max(time.Until(w.deadline), 1))
	}
	return req
}

// deliver passes results to their callers. Some of them may have stopped waiting.
func (q *queue) deliver(results []*peerpb.WriteResponse) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range results {
		w := q.sent[r.GetId()]
		if w == nil {
			continue // unknown id
		}
		delete(q.sent, r.GetId())
		q.bytes -= w.size
		w.done <- answer{resp: r}
	}
}

// failAll fails all writes after the stream could not be opened or has ended with cause. Waiting
// writes were not sent. The outcome of sent writes is unknown, unless cause is errLast. No write
// moves to another stream: the caller decides whether to retry it, perhaps with another leader.
func (q *queue) failAll(cause error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failAllLocked(cause)
}

func (q *queue) failAllLocked(cause error) {
	sent := q.inDoubt
	if errors.Is(cause, errLast) {
		sent = q.notSent
	}
	for _, w := range q.sent {
		w.done <- answer{err: sent(cause)}
	}
	for _, w := range q.waiting {
		w.done <- answer{err: q.notSent(cause)}
	}
	clear(q.sent)
	q.waiting, q.bytes = nil, 0
}

// close fails all writes, and refuses later ones.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.failAllLocked(errClosed)
}

func (q *queue) notSent(cause error) error {
	return fmt.Errorf("forward write to %s: %w: %w", q.name, ErrNotSent, cause)
}

func (q *queue) inDoubt(cause error) error {
	return fmt.Errorf("forward write to %s: %w", q.name, cause)
}

// signal puts a value into a channel of capacity one, if it is empty.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
