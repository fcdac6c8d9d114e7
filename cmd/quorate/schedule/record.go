package schedule

import (
	"context"
	"time"

	"quorate/apiserver/objects/deletion"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

const (
	// RecordName is the name of the Lease that records the last scheduled backup. Its holder is the
	// node that wrote it, acquireTime the time when the backup was taken, and renewTime the
	// scheduled time.
	RecordName = "quorate-scheduled-backup"
	// RecordNamespace is the namespace of that Lease.
	RecordNamespace = deletion.SystemNamespace
)

// record says which backup was written last.
type record struct {
	object    *state.Object // nil if there is no record
	scheduled time.Time
	taken     time.Time
}

func (s *Scheduler) recordKey() state.Key {
	return stored.Key(s.cfg.Leases, RecordNamespace, RecordName)
}

// readRecord returns the record of a state of the given freshness.
func (s *Scheduler) readRecord(ctx context.Context, fresh raftstore.Read) (record, error) {
	root, err := s.cfg.Store.View(ctx, fresh)
	if err != nil {
		return record{}, err
	}
	object := root.Get(s.recordKey())
	if object == nil {
		return record{}, nil
	}
	lease, err := stored.Decode(s.cfg.Leases, object)
	if err != nil {
		return record{}, err
	}
	spec := lease.Field("spec")
	r := record{object: object, scheduled: spec.Field("renewTime").Time(), taken: spec.Field("acquireTime").Time()}
	if now := time.Now(); r.scheduled.After(now) { // by the clock of another node, or written by a user
		r.scheduled = now
	}
	return r, nil
}

// write replaces the record previous, or creates it. Errors are those of the store.
func (s *Scheduler) write(ctx context.Context, previous record, scheduled, taken time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	k := s.cfg.Leases
	fill := func(o *schema.Object) {
		spec := o.Root().Make("spec")
		spec.Make("holderIdentity").SetStr(s.cfg.Node)
		spec.Make("renewTime").SetTime(scheduled.UTC())
		spec.Make("acquireTime").SetTime(taken.UTC())
	}
	if previous.object == nil {
		o := k.New()
		o.SetName(RecordName)
		o.SetNamespace(RecordNamespace)
		fill(o)
		stored.Begin(o, time.Now())
		if errs := k.ValidateCreate(o); len(errs) > 0 {
			return errs.ToAggregate()
		}
		k.Canonicalize(schema.Create, o, nil)
		object, _ := stored.Encode(o)
		_, err := s.cfg.Store.Create(ctx, raftstore.Create{Key: s.recordKey(), Object: object, Guard: stored.Guard(k, RecordNamespace)})
		return err
	}
	old, err := stored.Decode(k, previous.object)
	if err != nil {
		return err
	}
	o := old.Copy()
	fill(o)
	k.PrepareUpdate(schema.Update, o, old)
	if errs := k.ValidateUpdate(schema.Update, o, old); len(errs) > 0 {
		return errs.ToAggregate()
	}
	k.Canonicalize(schema.Update, o, old)
	object, _ := stored.Encode(o)
	_, err = s.cfg.Store.Update(ctx, raftstore.Update{
		Key: previous.object.Key, Previous: previous.object, UID: previous.object.UID, Object: object,
	})
	return err
}
