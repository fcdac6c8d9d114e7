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
	// answerTimeout is how long a client waits for an answer: longer than an election, so that
	// "unknown" is the server's word.
	answerTimeout = 15 * time.Second
	// shortPause and longPause are between what a client of a cluster that refuses everything waits
	// before it asks again.
	shortPause, longPause = 20 * time.Millisecond, 200 * time.Millisecond
)

var errNoTargets = errors.New("there are no nodes to ask")

// worker is what all clients have.
type worker struct {
	*Load
	number int
	rand   *rand.Rand
}

// loop makes a step for each request that the rate allows until ctx is done, and rests after one
// that got nowhere. A step that has begun ends by itself: its outcome is recorded.
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

// asking bounds one request. It outlives ctx, so that a request under way when the clients are
// stopped gets its answer.
func asking(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
}

// ask begins an operation on any node.
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

// insist asks one node after the other until one gives no error or ctx is done.
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

// unless is the error of any outcome but OK.
func unless(outcome client.Outcome, err error) error {
	if outcome == client.OK {
		return nil
	}
	return fmt.Errorf("%s: %w", outcome, err)
}

// valueKey is where an object has its value.
const valueKey = "value"

func valueOf(value string) map[string]string { return map[string]string{valueKey: value} }

func objectOf(item history.Item) client.Object {
	return client.Object{Name: item.Key, UID: item.UID, Version: item.Version, Data: valueOf(item.Value)}
}

// itemOf keeps of an object what a history needs. A history has the same few strings very often.
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
