package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"quorate/chaos/client"
)

// requestTimeout bounds one request of any client: longer than an election, so that "unknown" is the server's word.
const requestTimeout = 15 * time.Second

// retryPause keeps a client of a cluster that refuses everything from spinning.
const retryPause = 20 * time.Millisecond

// Target is a node that clients may talk to.
type Target struct {
	Name   string
	Client *client.Client
}

// Writer creates, replaces and deletes ConfigMaps that nobody else writes, each request to any node. Since it is alone on
// its keys it knows what must be there; after an unknown outcome it asks.
type Writer struct {
	ID        int
	Namespace string
	Targets   []Target
	History   *History
	Keys      int // how many names it cycles through
	Rand      *rand.Rand
	Rest      time.Duration // between two writes

	known map[string]client.Object // what is there now; absent: no such object
	doubt map[string]bool          // names with a write that may still land
	seq   int
}

// Run writes until ctx is done.
func (w *Writer) Run(ctx context.Context) {
	w.begin()
	for ctx.Err() == nil {
		rest := w.Rest
		if !w.step(ctx, w.name(w.Rand.IntN(w.Keys))) {
			rest = max(rest, retryPause)
		}
		if rest > 0 {
			pause(ctx, rest)
		}
	}
}

// Fill creates an object of every name that has none yet, however often it must be sent.
func (w *Writer) Fill(ctx context.Context) error {
	w.begin()
	for key := range w.Keys {
		if _, err := w.create(ctx, w.name(key)); err != nil {
			return err
		}
	}
	return nil
}

// Once creates one object, however often it must be sent, and returns its version.
func (w *Writer) Once(ctx context.Context) (uint64, error) {
	w.begin()
	return w.create(ctx, w.name(0))
}

func (w *Writer) begin() {
	if w.known == nil {
		w.known, w.doubt = map[string]client.Object{}, map[string]bool{}
	}
}

func (w *Writer) name(key int) string { return fmt.Sprintf("w%d-%d", w.ID, key) }

func (w *Writer) create(ctx context.Context, name string) (uint64, error) {
	for ctx.Err() == nil {
		if object, there := w.known[name]; there {
			return object.Version, nil
		}
		if !w.step(ctx, name) {
			pause(ctx, retryPause)
		}
	}
	return 0, fmt.Errorf("write %s: %w", name, ctx.Err())
}

// step does one write to name and learns what became of it. It reports whether the cluster took it.
func (w *Writer) step(ctx context.Context, name string) bool {
	w.seq++
	value := strconv.Itoa(w.ID) + "/" + strconv.Itoa(w.seq)
	object, exists := w.known[name]
	kind := Create
	if exists {
		kind = Replace
		if w.Rand.IntN(8) == 0 {
			kind = Delete
		}
	}
	target := w.Targets[w.Rand.IntN(len(w.Targets))]
	op := Op{Kind: kind, Key: name, Node: target.Name, Value: value, Invoked: time.Now()}
	after, outcome, err := w.send(target.Client, op, object)
	op.Answered, op.Version = time.Now(), after.Version
	if outcome != client.OK {
		w.failed(ctx, op, outcome, err)
		return false
	}
	w.History.add(op)
	delete(w.doubt, name)
	if kind == Delete {
		delete(w.known, name)
	} else {
		w.known[name] = after
	}
	return true
}

// failed records a write that was not acknowledged and learns what is there now.
func (w *Writer) failed(ctx context.Context, op Op, outcome client.Outcome, err error) {
	switch {
	case outcome == client.Unavailable:
		w.History.addUnavailable()
		return
	case outcome == client.Unknown:
		op.Unknown = true
		w.History.add(op)
		w.doubt[op.Key] = true
	case !w.doubt[op.Key]:
		w.History.addRefused(fmt.Sprintf("%s by the only writer of %s: %v", op.Kind, op.Key, err))
	}
	w.learn(ctx, op.Key)
}

// send does not take the run's context: a write under way when the run ends is waited for, so that its outcome is known.
func (w *Writer) send(c *client.Client, op Op, object client.Object) (client.Object, client.Outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	switch op.Kind {
	case Create:
		return c.Create(ctx, w.Namespace, op.Key, map[string]string{"value": op.Value})
	case Replace:
		object.Data = map[string]string{"value": op.Value}
		return c.Replace(ctx, w.Namespace, object)
	default:
		outcome, err := c.Delete(ctx, w.Namespace, object)
		return client.Object{}, outcome, err
	}
}

// learn reads name by quorum until it is told what is there. A write of unknown outcome may still be on its way when the
// read is served; then the next write finds out (a conflict) and learns again.
func (w *Writer) learn(ctx context.Context, name string) {
	for ctx.Err() == nil {
		target := w.Targets[w.Rand.IntN(len(w.Targets))]
		object, outcome := readKey(ctx, target, w.Namespace, name, w.History)
		switch outcome {
		case client.OK:
			w.known[name] = object
			return
		case client.NotFound:
			delete(w.known, name)
			return
		}
		pause(ctx, retryPause)
	}
}

// readKey reads one key by quorum and records what it was told.
func readKey(ctx context.Context, target Target, namespace, name string, h *History) (client.Object, client.Outcome) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	op := Op{Kind: Read, Key: name, Node: target.Name, Invoked: time.Now()}
	object, outcome, err := target.Client.Get(ctx, namespace, name)
	op.Answered, op.Version, op.Value = time.Now(), object.Version, object.Data["value"]
	switch outcome {
	case client.OK, client.NotFound:
		h.add(op)
	case client.Unavailable:
		h.addUnavailable()
	case client.Conflict, client.Refused:
		h.addRefused(fmt.Sprintf("read: %v", err))
	}
	return object, outcome
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
