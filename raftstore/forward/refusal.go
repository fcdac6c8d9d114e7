package forward

import (
	"errors"

	"quorate/proto/peerpb"
	"quorate/raftstore/state"
)

// Encode returns the message that describes a refusal, nil for any other error.
func Encode(err error) *peerpb.Refusal {
	var exists *state.Exists
	var missing *state.NotFound
	var conflict *state.Conflict
	var uid *state.UIDMismatch
	var guard *state.GuardFailed
	switch {
	case errors.As(err, &exists):
		return &peerpb.Refusal{Reason: peerpb.Refusal_EXISTS}
	case errors.As(err, &missing):
		return &peerpb.Refusal{Reason: peerpb.Refusal_NOT_FOUND}
	case errors.As(err, &conflict):
		return &peerpb.Refusal{Reason: peerpb.Refusal_VERSION, HaveVersion: conflict.Have}
	case errors.As(err, &uid):
		return &peerpb.Refusal{Reason: peerpb.Refusal_UID, HaveUid: uid.Have}
	case errors.As(err, &guard) && guard.Sealed:
		return &peerpb.Refusal{Reason: peerpb.Refusal_GUARD_SEALED}
	case guard != nil:
		return &peerpb.Refusal{Reason: peerpb.Refusal_GUARD_MISSING}
	default:
		return nil
	}
}

// Decode returns the refusal that a message describes, as the same error that a local write with
// the precondition of would return. It returns nil for a reason that this build does not know.
func Decode(r *peerpb.Refusal, of *state.Precondition) error {
	switch r.GetReason() {
	case peerpb.Refusal_EXISTS:
		return &state.Exists{Key: of.Key}
	case peerpb.Refusal_NOT_FOUND:
		return &state.NotFound{Key: of.Key}
	case peerpb.Refusal_VERSION:
		return &state.Conflict{Key: of.Key, Want: of.Version, Have: r.GetHaveVersion()}
	case peerpb.Refusal_UID:
		return &state.UIDMismatch{Key: of.Key, Want: of.UID, Have: r.GetHaveUid()}
	case peerpb.Refusal_GUARD_MISSING:
		return &state.GuardFailed{Guard: of.Guard}
	case peerpb.Refusal_GUARD_SEALED:
		return &state.GuardFailed{Guard: of.Guard, Sealed: true}
	default:
		return nil
	}
}
