package watch

import (
	"context"
	"errors"
	"testing"

	"quorate/apiserver/objects/selector"
	"quorate/apiserver/wire/cancel"
	"quorate/apiserver/wire/negotiate"
	"quorate/raftstore/state"
)

// TestStreamsKeepNoBuffer: a stream, which may live long, releases the buffer for encoding initial
// objects once it has sent them.
func TestStreamsKeepNoBuffer(t *testing.T) {
	t.Parallel()
	st, w := testStream(t, negotiate.Protobuf)
	object := &state.Object{Key: state.NewKey("configmaps", "a", "m"), Value: configMap("7")}
	err := st.sendInitial(t.Context(), Start{Marked: true, Initial: func(yield func(*state.Object, error) bool) {
		for range 3 {
			if !yield(object, nil) {
				return
			}
		}
	}})
	if err != nil || w.Body.Len() == 0 || st.sent != 4 {
		t.Fatalf("%d events in %d bytes, %v", st.sent, w.Body.Len(), err)
	}
	if n := cap(st.buffers.object); n > 0 {
		t.Errorf("%d bytes kept", n)
	}
}

// TestInitialObjectsEndWithTheStream checks that a stream stops sending its initial objects soon
// after its context has ended, and that a stream whose timeout expires before it has sent all of
// them ends with an error.
func TestInitialObjectsEndWithTheStream(t *testing.T) {
	t.Parallel()
	st, _ := testStream(t, negotiate.JSON)
	st.opts.Selector = selector.WithHidden(nil)
	var ctx cancel.Context
	ctx.Init(t.Context())
	object := &state.Object{Key: state.NewKey("configmaps", "a", "m"), Value: configMap("7")}
	visited := 0
	err := st.sendInitial(&ctx, Start{Initial: func(yield func(*state.Object, error) bool) {
		for yield(object, nil) && visited < 4*lookEvery {
			if visited++; visited == 1 {
				ctx.Cancel(context.DeadlineExceeded)
			}
		}
	}})
	if visited > lookEvery || err == nil {
		t.Errorf("%d objects visited, error %v", visited, err)
	}
	if err := initialError(&ctx, err); !errors.Is(err, errIncomplete) {
		t.Errorf("a stream that has not sent all initial objects ends with %v", err)
	}
}
