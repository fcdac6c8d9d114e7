package status

import (
	"context"
	"errors"
	"net/http"

	"quorate/apiserver/objects/schema"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// From returns the Status for an error of a request about s. mapped is false for an unexpected
// error, which is a bug that the caller must log and count.
func From(err error, s Subject) (failed *Error, mapped bool) {
	if own, ok := errors.AsType[*Error](err); ok {
		return own, true
	}
	if refused := fromRefusal(err, s); refused != nil {
		return refused, true
	}
	if e, ok := errors.AsType[*schema.ConversionError](err); ok { // a fault of the webhook
		return NewInternal(e.Error()), true
	}
	if e, ok := errors.AsType[*schema.DecodeError](err); ok {
		return NewBadRequest(e.Message), true
	}
	if e, ok := errors.AsType[*raftstore.QuotaError](err); ok {
		return NewQuotaExceeded(s, e), true
	}
	if failed := fromStore(err); failed != nil {
		return failed, true
	}
	return NewInternal(err.Error()), false
}

// fromRefusal returns the failure for a precondition that did not hold, nil for other errors.
func fromRefusal(err error, s Subject) *Error {
	if e, ok := errors.AsType[*state.Exists](err); ok {
		return NewAlreadyExists(s.named(e.Key), false)
	}
	if e, ok := errors.AsType[*state.NotFound](err); ok {
		return NewNotFound(s.named(e.Key))
	}
	if e, ok := errors.AsType[*state.Conflict](err); ok {
		return NewModified(s.named(e.Key))
	}
	if e, ok := errors.AsType[*state.UIDMismatch](err); ok {
		return NewUIDConflict(s.named(e.Key), e.Want, e.Have)
	}
	if e, ok := errors.AsType[*state.GuardFailed](err); ok {
		_, _, namespace := e.Guard.Split()
		if e.Sealed {
			return NewNamespaceTerminating(s, namespace)
		}
		return NewNamespaceNotFound(namespace)
	}
	return nil
}

// fromStore returns the failure for an error of the store, nil for other errors.
func fromStore(err error) *Error {
	if e, ok := errors.AsType[*raftstore.Future](err); ok {
		return NewTooLargeVersion(e.Want, e.Have)
	}
	if e, ok := errors.AsType[*history.Compacted](err); ok {
		return NewTooOldVersion(e.Want, e.Oldest)
	}
	if e, ok := errors.AsType[*raftstore.FullError](err); ok {
		return NewInsufficientStorage(e.Error())
	}
	if e, ok := errors.AsType[*raftstore.NoLeaderError](err); ok {
		return NewNoLeader(e.Error())
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return NewEntityTooLarge(e.Limit)
	}
	switch {
	case errors.Is(err, raftstore.ErrUnknownOutcome):
		return NewUnknownOutcome()
	case errors.Is(err, raftstore.ErrUnavailable), errors.Is(err, raftstore.ErrNotLeader):
		return NewUnavailable("no leader with a quorum")
	case errors.Is(err, raftstore.ErrClosed):
		return NewUnavailable("the node is shutting down")
	case errors.Is(err, raftstore.ErrTooLarge):
		return NewObjectTooLarge(MaxObjectBytes)
	case errors.Is(err, raftstore.ErrTimeout),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		// No Retry-After here: a deadline does not tell whether a write was applied.
		return NewTimeout()
	}
	return nil
}

// MaxObjectBytes bounds the encoded size of a stored object (A44: a larger one gets 413).
const MaxObjectBytes = 1536 << 10

// named returns the subject with the name in a refusal's key, which may be a generated one.
func (s Subject) named(k state.Key) Subject {
	if _, _, name := k.Split(); name != "" {
		s.Name = name
	}
	return s
}
