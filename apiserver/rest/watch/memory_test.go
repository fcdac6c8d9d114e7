package watch

import (
	"testing"

	"quorate/apiserver/wire/negotiate"
	"quorate/raftstore/state"
)

// TestStreamsKeepNoBuffer: a stream, which may live long, releases the buffer for encoding initial
// objects once it has sent them.
func TestStreamsKeepNoBuffer(t *testing.T) {
	t.Parallel()
	st, w := testStream(t, negotiate.Protobuf)
	object := &state.Object{Key: state.NewKey("configmaps", "a", "m"), Value: configMap("7")}
	err := st.sendInitial(Start{Marked: true, Initial: func(yield func(*state.Object, error) bool) {
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
