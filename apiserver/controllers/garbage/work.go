package garbage

import (
	"context"
	"slices"
	"sync"
	"time"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore/state"
)

// task is a decision to write.
type task struct {
	kind     *schema.Kind
	object   *state.Object
	decision Decision
}

// work decides about objects in a confirmed state and writes the decisions. It queues an object
// again at once if it has changed since, and after a pause if its write failed.
func (c *collection) work(ctx context.Context, root *state.Root, keys []state.Key) {
	var writers sync.WaitGroup
	slots := make(chan struct{}, parallel)
	results := make([]error, len(keys))
	for i, key := range keys {
		t, err := c.decide(root, key)
		if err != nil || t == nil {
			results[i] = err
			continue
		}
		slots <- struct{}{} // does not block for ever: writes end when ctx ends
		writers.Go(func() {
			defer func() { <-slots }()
			results[i] = c.write(ctx, t)
		})
	}
	writers.Wait()
	if ctx.Err() != nil {
		return
	}
	var failure error
	for i, err := range results {
		switch {
		case err == nil:
		case deletion.Lost(err):
			c.queue.add(keys[i])
		default:
			failure = err
			if len(c.failed) == 0 {
				c.retryAt = time.Now().Add(pollPause)
			}
			c.failed = append(c.failed, keys[i])
			c.metrics.errors.Inc()
		}
	}
	if failure != nil {
		c.log.Warn("garbage collection of some objects failed and will be retried", "objects", len(c.failed), "error", failure)
	}
}

// decide returns the write that an object requires, or nil if it requires none.
func (c *collection) decide(root *state.Root, key state.Key) (*task, error) {
	o := root.Get(key)
	f := c.kinds.followed[key.Resource()]
	if o == nil || f == nil {
		return nil, nil
	}
	l, err := readLinks(f.kind, o)
	if err != nil {
		return nil, err
	}
	d := Decide(c.input(root, o, &l))
	if d.Action == Keep {
		return nil, nil
	}
	return &task{kind: f.kind, object: o, decision: d}, nil
}

// input collects the input of Decide for an object.
func (c *collection) input(root *state.Root, o *state.Object, l *links) Object {
	j := Object{Going: l.going(), Orphans: l.orphans(), Foreground: l.foreground(), Blocks: l.blocks()}
	for _, r := range l.Owners {
		if r.UID == o.UID { // a reference to itself has no effect
			j.Owners = append(j.Owners, Alive)
			continue
		}
		j.Owners = append(j.Owners, c.ownerState(root, o.Key, r))
	}
	j.Dependents, j.Blocked = c.graph.dependents(o.Key, o.UID)
	j.Cycle = j.Blocked && j.Blocks && c.graph.cycle(o.Key, o.UID)
	return j
}

// ownerState returns the state of an owner. Because root is newer than the reference and uids are
// never reused, an owner that root does not contain cannot appear later.
func (c *collection) ownerState(root *state.Root, dependent state.Key, r reference) OwnerState {
	k := c.kinds.owner(r)
	_, namespace, _ := dependent.Split()
	switch {
	case k == nil, k.Namespaced && namespace == "":
		return Unknown
	case !k.Namespaced:
		namespace = ""
	}
	owner := root.Get(stored.Key(k, namespace, r.Name))
	if owner == nil || owner.UID != r.UID {
		return Absent
	}
	switch w := c.graph.waiting[owner.Key]; {
	case w.uid != r.UID:
		return Alive
	case w.orphans:
		return Orphaning
	default:
		return Waiting
	}
}

// write executes a decision in one entry, whose precondition is the version that the decision is
// about.
func (c *collection) write(ctx context.Context, t *task) error {
	o, err := t.kind.DecodeStored(t.object.Value)
	if err != nil {
		return err
	}
	d := t.decision
	var outcome deletion.Decision
	count := c.metrics.orphaned
	switch d.Action {
	case Forget:
		owners := o.OwnerReferences()
		for _, i := range slices.Backward(d.Drop) {
			owners.RemoveAt(i)
		}
		outcome = deletion.Decision{Action: deletion.Mark, Object: o}
	case Delete:
		if d.Unblock {
			unblock(o)
		}
		outcome, count = deletion.Decide(o, deletion.Options{Policy: d.Policy}, time.Now()), c.metrics.deleted
	case Release:
		outcome, count = deletion.Released(o, d.Finalizer), c.metrics.released
	case Unblock:
		unblock(o)
		outcome, count = deletion.Decision{Action: deletion.Mark, Object: o}, c.metrics.released
	}
	err = deletion.Commit(ctx, c.store, t.object, outcome)
	if err == nil && (outcome.Action == deletion.Mark || outcome.Action == deletion.Remove) {
		count.Inc()
	}
	return err
}

// unblock clears blockOwnerDeletion in all references of the object.
func unblock(o *schema.Object) {
	for _, r := range o.OwnerReferences().Items() {
		r.Clear("blockOwnerDeletion")
	}
}
