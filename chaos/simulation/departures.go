package simulation

import (
	"context"
	"strings"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/state"
)

// View, Create and Update let package voters read and write the departures, through the log of the
// simulated cluster.

func (l leadership) View(context.Context, raftstore.Read) (*state.Root, error) {
	if l.p.w.breaks(ForgetDepartures) {
		return state.NewTree().Publish(), nil
	}
	return asked(l.p, "view", func() *state.Root { return l.p.applier.Root() }), nil
}

func (l leadership) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	data, err := c.Encode()
	if err != nil {
		return nil, err
	}
	return l.write(ctx, data, &write{op: opCreate, key: c.Key, value: template(c.Object)})
}

func (l leadership) Update(ctx context.Context, u raftstore.Update) (*state.Object, error) {
	data, err := u.Encode()
	if err != nil {
		return nil, err
	}
	return l.write(ctx, data, &write{op: opUpdate, key: u.Key, version: u.Previous.Version, value: template(u.Object)})
}

// template returns the value of an object with a percent sign in place of the version.
func template(o *state.Object) string {
	return string(o.Value[:o.VersionOffset]) + "%" + string(o.Value[o.VersionOffset:])
}

// write proposes an entry on this process, and returns the object that it has stored once the entry
// is applied here. It returns raftstore.ErrUnknownOutcome if ctx ends first.
func (l leadership) write(ctx context.Context, data []byte, w *write) (stored *state.Object, err error) {
	e := &entry{Log: raft.Log{Type: raft.LogCommand, Data: data}, write: w}
	f := newFuture()
	l.p.ask("write "+strings.ReplaceAll(string(w.key), "\x00", "/"), func() {
		if l.p.role != leader {
			f.resolve(raft.ErrNotLeader)
			return
		}
		l.p.waiting[l.p.propose(e)] = f.resolve
	})
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, raftstore.ErrUnknownOutcome
	}
	if f.err != nil {
		return nil, lostLeadership(f.err)
	}
	l.p.ask("written", func() {
		stored = l.p.applier.Root().Get(w.key)
		if stored == nil || stored.Version != e.Index {
			err = &state.Conflict{}
			return
		}
		l.p.w.truth.acknowledged(e)
	})
	return stored, err
}
