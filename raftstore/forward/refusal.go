package forward

import (
	"errors"

	"quorate/proto/peerpb"
	"quorate/raftstore/state"
)

// Subject is what a write was about: with the reason that the leader gives, it makes the refusal that a local write gets.
type Subject struct {
	Key, Guard state.Key
	Version    uint64 // expected
	UID        string // expected
}

// Encode puts a refusal in a message; nil for any other error.
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

// Decode makes the refusal of a message again; nil for a reason that this node doesn't know.
func (s Subject) Decode(r *peerpb.Refusal) error {
	switch r.GetReason() {
	case peerpb.Refusal_EXISTS:
		return &state.Exists{Key: s.Key}
	case peerpb.Refusal_NOT_FOUND:
		return &state.NotFound{Key: s.Key}
	case peerpb.Refusal_VERSION:
		return &state.Conflict{Key: s.Key, Want: s.Version, Have: r.GetHaveVersion()}
	case peerpb.Refusal_UID:
		return &state.UIDMismatch{Key: s.Key, Want: s.UID, Have: r.GetHaveUid()}
	case peerpb.Refusal_GUARD_MISSING:
		return &state.GuardFailed{Guard: s.Guard}
	case peerpb.Refusal_GUARD_SEALED:
		return &state.GuardFailed{Guard: s.Guard, Sealed: true}
	default:
		return nil
	}
}
