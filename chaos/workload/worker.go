package workload

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
	"unique"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

const (
	// answerTimeout is the time limit of a client for a response. It is longer than an election, so
	// that "unknown" comes from the server.
	answerTimeout = 15 * time.Second
	// shortPause and longPause are the minimum and maximum pause of a client after a request that
	// the cluster refused.
	shortPause, longPause = 20 * time.Millisecond, 200 * time.Millisecond
)

var errNoTargets = errors.New("there are no nodes to ask")

// worker contains the parts that all clients have.
type worker struct {
	*Load
	number int
	rand   *rand.Rand
}

// loop makes a step for each request that the rate allows until ctx is done, and pauses after a
// step that failed. A step that has begun is completed, and its outcome recorded.
func (w *worker) loop(ctx context.Context, step func(ctx context.Context) bool) {
	for w.limiter.Wait(ctx) == nil {
		if !step(ctx) {
			w.rest(ctx)
		}
	}
}

func (w *worker) rest(ctx context.Context) { wait(ctx, w.between(shortPause, longPause)) }

func (w *worker) between(from, to time.Duration) time.Duration {
	return from + time.Duration(w.rand.Int64N(int64(to-from)))
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// asking returns a context that bounds one request. It outlives ctx, so that a request in progress
// when the clients are stopped gets its response.
func asking(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
}

// ask begins an operation on a random node.
func (w *worker) ask(kind history.Kind, key string) (op history.Op, c *client.Client, found bool) {
	target, found := w.Targets.pick(w.rand)
	if !found {
		return history.Op{}, nil, false
	}
	op = history.Op{Kind: kind, Client: w.number, Node: target.Name, Key: key, Invoked: w.Recorder.Now()}
	return op, target.Client.Lane(w.number), true
}

// read records a read that has ended and reports whether it returned a state.
func (w *worker) read(op history.Op, outcome client.Outcome, err error) bool {
	op.Answered, op.Outcome = w.Recorder.Now(), outcome
	switch outcome {
	case client.OK:
		w.Recorder.Add(op)
		return true
	case client.NotFound:
		if op.Key != "" {
			w.Recorder.Add(op)
			return true
		}
		w.Recorder.Refused(fmt.Sprintf("%s: %v", op.Kind, err))
	case client.Unavailable:
		w.Recorder.Unavailable(op)
	case client.Unknown:
		w.Recorder.Unanswered(op)
	default:
		w.Recorder.Refused(fmt.Sprintf("%s: %v", op.Kind, err))
	}
	return false
}

// insist sends a request to one node after the other until one succeeds or ctx is done.
func (w *worker) insist(ctx context.Context, request func(ctx context.Context, node Target) error) error {
	err := errNoTargets
	for ctx.Err() == nil {
		if target, found := w.Targets.pick(w.rand); found {
			bounded, cancel := context.WithTimeout(ctx, answerTimeout)
			err = request(bounded, target)
			cancel()
		}
		if err == nil {
			return nil
		}
		w.rest(ctx)
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}

// unless returns the error of any outcome other than OK.
func unless(outcome client.Outcome, err error) error {
	if outcome == client.OK {
		return nil
	}
	return fmt.Errorf("%s: %w", outcome, err)
}

// valueKey is the key of the value in an object.
const valueKey = "value"

func valueOf(value string) map[string]string { return map[string]string{valueKey: value} }

func objectOf(item history.Item) client.Object {
	return client.Object{Name: item.Key, UID: item.UID, Version: item.Version, Data: valueOf(item.Value)}
}

// itemOf returns the part of an object that a history needs. It interns strings, of which a history
// contains few different ones.
func itemOf(o client.Object) history.Item {
	return history.Item{Key: intern(o.Name), UID: intern(o.UID), Version: o.Version, Value: intern(o.Data[valueKey])}
}

func itemsOf(objects []client.Object) []history.Item {
	items := make([]history.Item, len(objects))
	for i, o := range objects {
		items[i] = itemOf(o)
	}
	return items
}

func intern(s string) string { return unique.Make(s).Value() }
