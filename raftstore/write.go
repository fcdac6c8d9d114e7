package raftstore

import (
	"context"

	"quorate/raftstore/state"
	"quorate/raftstore/write"
)

// MaxEntryBytes bounds one encoded log entry, and so one object (with its predecessor, where
// selectors see a change).
const MaxEntryBytes = write.MaxEntryBytes

// Create stores an object under a key that must be free.
type Create = write.Create

// Update replaces an object.
type Update = write.Update

// Delete removes an object.
type Delete = write.Delete

// Create stores an object and returns it as it is stored. Errors: *state.Exists,
// *state.GuardFailed; ErrUnavailable, ErrTooLarge, ErrClosed, *FullError when surely nothing was
// written; ErrUnknownOutcome when it may have been. This node has applied the write when Create
// returns (semantics N5).
func (s *Store) Create(ctx context.Context, c Create) (*state.Object, error) {
	return s.writer.Create(ctx, c)
}

// Update replaces an object and returns it as it is stored. Errors as Create's, and
// *state.NotFound, *state.Conflict, *state.UIDMismatch.
func (s *Store) Update(ctx context.Context, u Update) (*state.Object, error) {
	return s.writer.Update(ctx, u)
}

// Delete removes an object and returns its final state, with the deletion's index as version.
// Errors as Update's.
func (s *Store) Delete(ctx context.Context, d Delete) (*state.Object, error) {
	return s.writer.Delete(ctx, d)
}
