package raftstore

import (
	"context"

	"quorate/raftstore/state"
	"quorate/raftstore/write"
)

// MaxEntryBytes bounds one encoded log entry, and so one object. The entry of an update or delete
// that changes labels or fields has the previous object as well.
const MaxEntryBytes = write.MaxEntryBytes

// Quota bounds what the state holds; see package write.
type Quota = write.Quota

// AnyResource stands for all resources that Quota.Objects does not name.
const AnyResource = write.AnyResource

// Create stores an object under a key that must be unused.
type Create = write.Create

// Update replaces an object.
type Update = write.Update

// Delete removes an object.
type Delete = write.Delete

// Create stores an object and returns it as stored. Errors: *state.Exists and *state.GuardFailed if
// the write was refused; ErrUnavailable, ErrTooLarge, ErrClosed, *FullError and *QuotaError if
// certainly nothing was written; ErrUnknownOutcome if the write may still be applied. When Create
// returns, this node has applied the write, so that a cached read on this node sees it (N5), unless
// ctx ended first.
func (s *Store) Create(ctx context.Context, c Create) (*state.Object, error) {
	return s.writer.Create(ctx, c)
}

// Update replaces an object and returns it as stored. Errors are those of Create, and
// *state.NotFound, *state.Conflict, *state.UIDMismatch.
func (s *Store) Update(ctx context.Context, u Update) (*state.Object, error) {
	return s.writer.Update(ctx, u)
}

// Delete removes an object and returns its final state, with the index of the deletion as version.
// Errors are those of Update.
func (s *Store) Delete(ctx context.Context, d Delete) (*state.Object, error) {
	return s.writer.Delete(ctx, d)
}
