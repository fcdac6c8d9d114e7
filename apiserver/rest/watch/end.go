package watch

import (
	"context"

	"quorate/raftstore/history"
)

// End tells the streams of a collection when it is gone for good: they send what is left of its history and end (K14). One
// goroutine may call At, once; any number may ask.
type End struct {
	over  context.Context
	reach context.CancelFunc
	index uint64 // written before over ends
}

// NewEnd returns the end of a collection that is there.
func NewEnd() *End {
	e := &End{}
	e.over, e.reach = context.WithCancel(context.Background())
	return e
}

// At ends the collection: it has no changes after the index.
func (e *End) At(index uint64) {
	e.index = index
	e.reach()
}

// Reached reports whether the collection has ended.
func (e *End) Reached() bool { return e.over.Err() != nil }

// bound returns ctx ended by the collection's end too. A nil End never comes.
func (e *End) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if e == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(e.over, cancel)
	return ctx, func() { stop(); cancel() }
}

// drain sends the changes up to the end of a collection.
func (st *Stream) drain(ctx context.Context, end *End, changes *history.Cursor) error {
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
