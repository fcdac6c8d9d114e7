package workload

import (
	"context"
	"fmt"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// register creates, gets, replaces and deletes keys that other clients use at the same time. It
// acts on the last response that it received, which is often out of date, so the cluster refuses
// many of its writes. After a write of unknown outcome it continues under a new client number.
type register struct {
	worker
	beliefs []belief
	fresh   *belief // what it has just read, to be acted upon next; nil: nothing
	seq     int
}

// belief is the last result that a client received about a key.
type belief struct {
	*slot
	key   string
	known bool         // false before the first response, and after a conflict or an unknown outcome
	item  history.Item // zero: it is not there
}

// step makes one operation on one of its keys, and reports whether the cluster accepted it.
func (r *register) step(ctx context.Context) bool {
	b := r.fresh
	if r.fresh = nil; b == nil {
		b = &r.beliefs[r.rand.IntN(len(r.beliefs))]
	}
	if key := b.take(); key != b.key {
		*b = belief{slot: b.slot, key: key}
	}
	op, c, found := r.ask(r.choose(b), b.key)
	if !found {
		return false
	}
	ctx, cancel := asking(ctx)
	defer cancel()
	if op.Kind == history.Get {
		o, outcome, err := c.Get(ctx, r.Namespace, op.Key)
		op.Got = itemOf(o)
		told := r.read(op, outcome, err)
		if told {
			b.known, b.item = true, op.Got
			r.fresh = b
		}
		return told
	}
	r.seq++
	if op.Kind != history.Create {
		op.Expect = b.item
	}
	if op.Kind != history.Delete {
		op.Value = fmt.Sprintf("%d/%d", r.number, r.seq)
	}
	got, outcome, err := r.send(ctx, c, op)
	op.Got = got
	return r.wrote(b, op, outcome, err)
}

// choose chooses an operation by the client's belief, usually one that should succeed.
func (r *register) choose(b *belief) history.Kind {
	roll := r.rand.IntN(100)
	switch {
	case !b.known && roll < 10, b.known && b.item.Version == 0 && roll < 85, b.known && roll < 5:
		return history.Create
	case !b.known, b.item.Version == 0, roll < 25:
		return history.Get
	case roll < 40:
		return history.Delete
	default:
		return history.Replace
	}
}

func (r *register) send(ctx context.Context, c *client.Client, op history.Op) (history.Item, client.Outcome, error) {
	switch op.Kind {
	case history.Create:
		o, outcome, err := c.Create(ctx, r.Namespace, op.Key, valueOf(op.Value))
		return itemOf(o), outcome, err
	case history.Replace:
		next := objectOf(op.Expect)
		next.Data = valueOf(op.Value)
		o, outcome, err := c.Replace(ctx, r.Namespace, next)
		return itemOf(o), outcome, err
	default:
		uid, outcome, err := c.Delete(ctx, r.Namespace, objectOf(op.Expect))
		switch {
		case outcome != client.OK:
			return history.Item{}, outcome, err
		case uid != op.Expect.UID:
			return history.Item{}, client.Refused, fmt.Errorf("%s: uid %s was deleted instead of %s", op.Key, uid, op.Expect.UID)
		}
		return history.Item{Key: op.Key, UID: op.Expect.UID}, outcome, nil
	}
}

// wrote records a write that has ended, updates the client's belief, and reports whether the
// cluster accepted the write.
func (r *register) wrote(b *belief, op history.Op, outcome client.Outcome, err error) bool {
	took := r.recordWrite(op, outcome, err)
	switch {
	case outcome == client.OK && op.Kind == history.Delete, outcome == client.NotFound:
		b.known, b.item = true, history.Item{}
	case outcome == client.OK:
		b.known, b.item = true, op.Got
	case outcome == client.Unavailable: // nothing has changed
	default:
		b.known, b.item = false, history.Item{}
	}
	if outcome != client.OK && outcome != client.NotFound && outcome != client.Conflict && outcome != client.Unavailable {
		b.doubt(op.Key)
		r.number, r.seq = r.Load.number(), 0
	}
	return took
}

// recordWrite records a write that has ended, and reports whether the cluster decided on it.
func (w *worker) recordWrite(op history.Op, outcome client.Outcome, err error) bool {
	op.Answered, op.Outcome = w.Recorder.Now(), outcome
	switch {
	case outcome == client.Unavailable:
		w.Recorder.Unavailable(op)
		return false
	case outcome == client.NotFound && op.Kind == history.Create:
		w.Recorder.Refused(fmt.Sprintf("create: the namespace isn't there: %v", err))
		return false
	case outcome == client.OK, outcome == client.NotFound, outcome == client.Conflict:
		w.Recorder.Add(op)
		return true
	case outcome != client.Unknown:
		w.Recorder.Refused(fmt.Sprintf("%s: %v", op.Kind, err))
	}
	// A response that no correct server sends does not say whether the write was applied.
	op.Outcome = client.Unknown
	w.Recorder.Add(op)
	return false
}
