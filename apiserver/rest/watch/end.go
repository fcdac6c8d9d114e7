package watch

import (
	"context"

	"quorate/raftstore/history"
)

// End ends the streams of a kind that is removed or changes while streams follow it. After At is
// called, they send the changes up to its index and end (K14, K15). At must be called at most once;
// Reached is safe for concurrent use.
type End struct {
	ctx    context.Context // ends with the collection
	cancel context.CancelFunc
	index  uint64 // written before ctx ends
}

// NewEnd returns the End of a collection that exists.
func NewEnd() *End {
	e := &End{}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// At ends the streams once they have sent the changes up to index.
func (e *End) At(index uint64) {
	e.index = index
	e.cancel()
}

// Reached reports whether the collection has ended.
func (e *End) Reached() bool { return e.ctx.Err() != nil }

// bound returns a context that ends with ctx or with the collection. A nil End never ends.
func (e *End) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if e == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(e.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// sendUntil sends the changes up to the end of the collection.
func (st *Stream) sendUntil(ctx context.Context, end *End, changes *history.Cursor) error {
	for ctx.Err() == nil && changes.Position() < end.index {
		events, err := changes.Next(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			st.event(e)
		}
	}
	return st.flush()
}
