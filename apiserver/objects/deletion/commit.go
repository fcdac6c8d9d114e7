package deletion

import (
	"context"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// Store executes the writes of decisions.
type Store interface {
	Update(ctx context.Context, u raftstore.Update) (*state.Object, error)
	Delete(ctx context.Context, d raftstore.Delete) (*state.Object, error)
}

// Commit writes a decision about the object previous. It returns *state.Conflict,
// *state.UIDMismatch or *state.NotFound when previous is no longer the stored version.
func Commit(ctx context.Context, s Store, previous *state.Object, d Decision) error {
	switch d.Action {
	case Mark:
		marked, _ := encode(previous, d.Object)
		_, err := s.Update(ctx, raftstore.Update{Key: previous.Key, Object: marked, Previous: previous, UID: previous.UID, Frees: true})
		return err
	case Remove:
		final, encoded := encode(previous, d.Object)
		if encoded.SameAs(previous) {
			final = nil
		}
		_, err := s.Delete(ctx, raftstore.Delete{Key: previous.Key, Previous: previous, UID: previous.UID, Final: final})
		return err
	}
	return nil
}

// encode encodes an object that differs from previous in its metadata only. Selectable fields of
// versions that a webhook converts keep their values, so that no deletion needs the webhook.
func encode(previous *state.Object, o *schema.Object) (*state.Object, schema.Encoded) {
	next, encoded := stored.Encode(o)
	if o.Kind.ConvertsRemotely() {
		next.Fields = previous.Fields
	}
	return next, encoded
}
