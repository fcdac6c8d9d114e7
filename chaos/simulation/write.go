package simulation

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

type operation string

const (
	opCreate operation = "create"
	opUpdate operation = "update"
	opDelete operation = "delete"
	opInit   operation = "init"
	opPin    operation = "pin"
)

// write is what a client means, in words that have nothing to do with how it is encoded.
type write struct {
	op       operation
	key      state.Key
	guard    state.Key // of a create
	version  uint64    // that must be stored, of an update or a delete
	uid      string    // that must be stored; "" is any
	value    string    // with a percent sign where the version goes; of an init the cluster's id
	made     string    // the object's uid
	labels   string
	sealed   bool
	asked    time.Time // of a pin
	relabels bool      // an update or delete that changes labels
}

// client writes to any node, based on the state that this node has.
type client struct {
	w    *World
	made int
}

func (c *client) writeSoon() {
	c.w.at(c.w.between(0, c.w.set.pause), func() {
		if c.w.calm {
			return
		}
		c.writeSoon()
		if all := c.w.running(); len(all) > 0 {
			pick(c.w, all).write(c)
		}
	})
}

// write makes the process send a client's entry to the leader that it knows.
func (p *process) write(c *client) {
	e, err := c.draw(p.applier.Root())
	if err != nil {
		p.w.violate("encode a write: %v", err)
		return
	}
	p.forward(e, func() {})
}

// forward makes the leader propose an entry, and returns the response to this process, if the
// network delivers both messages.
func (p *process) forward(e *entry, answered func()) {
	if p.leading == "" {
		return
	}
	from := p.node
	e.Type = raft.LogCommand
	p.send(p.w.node(p.leading), 0, func(q *process) {
		if q.role != leader || e.Index > 0 {
			return // nothing was written; or by a message that came twice, which no transport of ours delivers
		}
		index := q.propose(e)
		q.trace("proposes %s of %q as %d of term %d", e.write.op, e.write.key, index, q.term)
		q.waiting[index] = func(failure error) {
			if failure != nil {
				return // the outcome is not known
			}
			q.send(from, 0, func(*process) {
				q.w.truth.acknowledged(e)
				answered()
			})
		}
	})
}

// key draws the key of an object in one of three namespaces, or of a namespace itself.
func (c *client) key() (k, namespace state.Key) {
	ns := fmt.Sprint("ns", c.w.rng.IntN(3))
	namespace = state.NewKey("namespaces", "", ns)
	if c.w.chance(0.15) {
		return namespace, namespace
	}
	resource := pick(c.w, []string{"pods", "pods", "apps/deployments"})
	return state.NewKey(resource, ns, fmt.Sprint("x", c.w.rng.IntN(c.w.set.names))), namespace
}

// object draws an object's content.
func (c *client) object(w *write, uid string) *state.Object {
	c.made++
	head := `{"metadata":{"resourceVersion":"`
	padding := ""
	if c.w.chance(0.02) {
		padding = fmt.Sprintf("%0*d", 1+c.w.rng.IntN(4096), 0)
	}
	tail := fmt.Sprintf(`"},"n":"%d%s"}`, c.made, padding)
	w.value, w.made, w.sealed = head+"%"+tail, uid, c.w.chance(0.1)
	labels := state.NewAttributes(map[string]string{"l": fmt.Sprint(c.w.rng.IntN(2))})
	w.labels = string(labels)
	return &state.Object{Value: []byte(head + tail), VersionOffset: uint32(len(head)), UID: uid, Labels: labels, Sealed: w.sealed}
}

// draw creates an entry that mostly fits the state that the client sees, which may be an old one.
func (c *client) draw(root *state.Root) (*entry, error) {
	w := &write{}
	if c.w.chance(0.04) {
		return c.pin(w)
	}
	k, namespace := c.key()
	have := root.Get(k)
	w.key = k
	var command interface{ Encode() ([]byte, error) }
	switch {
	case have == nil || c.w.chance(0.05):
		w.op = opCreate
		uid := fmt.Sprintf("uid-%d-%d", c.w.rng.Uint32(), c.made)
		create := raftstore.Create{Key: k, Object: c.object(w, uid)}
		if k != namespace && c.w.chance(0.5) {
			w.guard, create.Guard = namespace, namespace
		}
		command = create
	case c.w.chance(0.7):
		w.op, w.version = opUpdate, have.Version
		o := c.object(w, have.UID)
		w.relabels = o.Labels != have.Labels
		update := raftstore.Update{Key: k, Object: o, Previous: have}
		if c.w.chance(0.3) {
			w.uid, update.UID = have.UID, have.UID
		}
		command = update
	default:
		w.op, w.version = opDelete, have.Version
		del := raftstore.Delete{Key: k, Previous: have}
		if c.w.chance(0.5) {
			del.Final = c.object(w, have.UID)
			w.relabels = del.Final.Labels != have.Labels
		} else {
			w.value = string(have.Value[:have.VersionOffset]) + "%" + string(have.Value[int(have.VersionOffset)+len(fmt.Sprint(have.Version)):])
			w.made, w.labels, w.sealed = have.UID, string(have.Labels), have.Sealed
		}
		if c.w.chance(0.3) {
			w.uid, del.UID = "another", "another"
		}
		command = del
	}
	data, err := command.Encode()
	return &entry{Log: raft.Log{Data: data}, write: w}, err
}

// pin creates an entry that pins a state, with the time of a clock that may be wrong.
func (c *client) pin(w *write) (*entry, error) {
	w.op = opPin
	w.asked = c.w.now().Add(c.w.between(-2*time.Second, 2*time.Second))
	data, err := proto.Marshal(&logpb.Entry{
		Format: 1, TimeUnixNano: w.asked.UnixNano(), Op: &logpb.Entry_Pin{Pin: &logpb.Pin{}},
	})
	return &entry{Log: raft.Log{Data: data}, write: w}, err
}

// refusalName returns a name for the reason of a refusal, or "".
func refusalName(err error) string {
	var (
		exists   *state.Exists
		missing  *state.NotFound
		conflict *state.Conflict
		uid      *state.UIDMismatch
		guard    *state.GuardFailed
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &exists):
		return "exists"
	case errors.As(err, &missing):
		return "missing"
	case errors.As(err, &conflict):
		return fmt.Sprintf("conflict with %d", conflict.Have)
	case errors.As(err, &uid):
		return "uid"
	case errors.As(err, &guard):
		return fmt.Sprintf("guard sealed=%v", guard.Sealed)
	}
	return err.Error()
}
